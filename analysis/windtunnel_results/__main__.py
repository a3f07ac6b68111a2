"""python3 -m windtunnel_results read|plot|compare|report: looks at windtunnel result files. Recomputes nothing."""
import argparse
import os
import sys

from .compare import compare
from .plots import write_plots
from .read import read
from .report import write_report


def read_command(arguments):
    result = read(arguments.result)
    if not arguments.table:
        for path, table in result.tables.items():
            print(f"{path}: {len(table)} rows: {', '.join(with_units(table))}")
        return 0
    if arguments.table not in result:
        print(f"{arguments.result} has no table {arguments.table}; it has: {', '.join(result.tables)}", file=sys.stderr)
        return 2
    table = result[arguments.table]
    table.columns = with_units(table)
    table.to_csv(arguments.csv or sys.stdout, index=False)
    return 0


def with_units(table):
    units = table.attrs.get("units", {})
    return [name if units.get(name, "1") in ("1", "") else f"{name} [{units[name]}]" for name in table.columns]


def plot_command(arguments):
    written, without = write_plots(arguments.result, arguments.output)
    for name in without:
        print(f"{name}: {arguments.result} has no data for it", file=sys.stderr)
    for name in written:
        print(f"{arguments.output}/{name}.png")
    return 0 if written else 1


def compare_command(arguments):
    print(compare(arguments.results), end="")
    return 0


def report_command(arguments):
    output = arguments.output or os.path.splitext(arguments.result)[0] + ".html"
    size = write_report(arguments.result, output)
    print(f"{output}: {size / 1e6:.1f} MB", file=sys.stderr)
    return 0


def parser():
    top = argparse.ArgumentParser(prog="windtunnel_results", description=__doc__)
    commands = top.add_subparsers(dest="command", required=True)
    part = commands.add_parser("read", help="name the tables, or write one of them as CSV with units")
    part.add_argument("result")
    part.add_argument("--table", help="for example search/best")
    part.add_argument("--csv", help="file (default: standard output)")
    part.set_defaults(run=read_command)
    part = commands.add_parser("plot", help="write the plots that the file has data for, as PNG and SVG")
    part.add_argument("result")
    part.add_argument("--output", default=".", help="folder (default: this one)")
    part.set_defaults(run=plot_command)
    part = commands.add_parser("compare", help="deltas of several results with intervals, and the inputs that differ")
    part.add_argument("results", nargs="+", metavar="result")
    part.set_defaults(run=compare_command)
    part = commands.add_parser("report", help="write one HTML page that needs no network")
    part.add_argument("result")
    part.add_argument("--output", help="file (default: the result's name with .html)")
    part.set_defaults(run=report_command)
    return top


def main(words):
    arguments = parser().parse_args(words)
    try:
        return arguments.run(arguments)
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
