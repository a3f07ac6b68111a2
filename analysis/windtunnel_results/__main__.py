"""python3 -m windtunnel_results plots RESULT.h5 [--output FOLDER]; python3 -m windtunnel_results tables RESULT.h5"""
import argparse
import sys

from .plots import write_plots
from .read import read


def main(words):
    parser = argparse.ArgumentParser(prog="windtunnel_results", description="Reads windtunnel result files.")
    commands = parser.add_subparsers(dest="command", required=True)
    plots = commands.add_parser("plots", help="write the plots that the file has data for, as PNG and SVG")
    plots.add_argument("result")
    plots.add_argument("--output", default=".", help="folder (default: this one)")
    tables = commands.add_parser("tables", help="name the tables with rows and columns")
    tables.add_argument("result")
    arguments = parser.parse_args(words)
    try:
        if arguments.command == "tables":
            for path, table in read(arguments.result).tables.items():
                print(f"{path}: {len(table)} rows: {', '.join(table.columns)}")
            return 0
        written, without = write_plots(arguments.result, arguments.output)
    except OSError as error:
        print(f"{arguments.result}: {error}", file=sys.stderr)
        return 1
    for name in without:
        print(f"{name}: {arguments.result} has no data for it", file=sys.stderr)
    for name in written:
        print(f"{arguments.output}/{name}.png")
    return 0 if written else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
