"""Writes the page of errors from the output of `windtunnel validate train --json`; standard library only.

    windtunnel validate train --json > rows.json
    PYTHONPATH=analysis python3 -m windtunnel_results.validation rows.json inputs > docs/validation.md

With --limits it writes inputs/measurements/train/limits.toml instead.
"""
import argparse
import json
import math
import pathlib
import re
import statistics
import sys

TEXT = pathlib.Path(__file__).with_name("validation_text.md")


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])


def errors(rows):
    return sorted(abs(row["relative_error"]) for row in rows if row["relative_error"] is not None)


def percent(value):
    return f"{100.0 * value:.1f}"


def quantile(ordered, share):
    """Nearest rank, as `validate` prints it."""
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1]


def figures(rows):
    """n, mean, median, 90th percentile, worst; percent."""
    ordered = errors(rows)
    if not ordered:
        return [0, "", "", "", ""]
    return [len(ordered), percent(statistics.fmean(ordered)), percent(quantile(ordered, 0.5)),
            percent(quantile(ordered, 0.9)), percent(ordered[-1])]


def halves(rows):
    """Rows not fitted, then the mean of those that may have been fitted."""
    fitted = errors([row for row in rows if row["used_to_fit"]])
    return figures([row for row in rows if not row["used_to_fit"]]) + [
        len(fitted), percent(statistics.fmean(fitted)) if fitted else ""]


HALVES = ["rows not fitted", "mean", "median", "P90", "worst", "rows that may be fitted", "mean of them"]


COUNTS = ("rows", "sets", "sets with fitted rows", "tau", "tau with fitted rows", "context, GB", "half-width to mean error",
          "values", "left out to reported", "left at the prior, assumed", "fewest rows that one touches",
          "rows whose fit without their source is out of date")


def shown(measure, value):
    if value is None:
        return ""
    return f"{value:.4g}" if measure in COUNTS else percent(value)


def figure_table(figures, name):
    """One line a name, its measures beside each other, what is wanted and what fails at the end."""
    some = [figure for figure in figures if figure["table"] == name]
    measures = list(dict.fromkeys(figure["measure"] for figure in some))
    lines = []
    for entry, group in sorted_into(some, lambda figure: figure["name"]).items():
        by_measure = {figure["measure"]: figure for figure in group}
        wanted = []
        for figure in group:
            if figure["target"] is None:
                continue
            sign = "at least" if figure["at_least"] else "at most"
            text = f'{figure["measure"]} {sign} {shown(figure["measure"], figure["target"])}'
            value = figure["value"]
            if value is not None and (value < figure["target"] if figure["at_least"] else value > figure["target"]):
                text = f'**{text}: missed** (fails at {shown(figure["measure"], figure["limit"])})'
            wanted.append(text)
        lines.append([entry, group[0]["rows"]] + [
            shown(measure, by_measure[measure]["value"]) if measure in by_measure else "" for measure in measures] +
            ["; ".join(wanted)])
    return table([name, "n"] + measures + ["wanted, %"], lines)


def sorted_into(rows, key):
    groups = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def excluded(rows):
    reasons = sorted_into([row for row in rows if row["predicted"] is None],
                          lambda row: re.sub(r"\d[\d.]*", "N", row["reason"]))
    return table(["rows", "reason"], sorted(([len(some), reason] for reason, some in reasons.items()), reverse=True))


def calibrations(inputs):
    """One line a set: values with the mark that the file gives them."""
    lines, total = [], 0
    for path in sorted((inputs / "calibrations").glob("*.toml")):
        text = path.read_text()
        values = re.findall(r"^(\w+) = (\S.*?)\s*(?:#\s*(.*))?$", text, re.MULTILINE)
        fitted = [f"{key} {value.strip(chr(34))}" for key, value, mark in values if mark.startswith("fitted")]
        fitted += [f"release {name} {factor}" for name, factor in re.findall(
            r'name = "release ([^"]+)"\nunit = "1"\nvalue = (\S+)\n(?:(?!assumed|\n).+\n)*(?=\n|$)', text)]
        prior = [key for key, value, mark in values if mark.startswith("assumed")]
        rows = re.search(r"(\d+) measured rows", text)
        total += len(fitted)
        lines.append([f"`{path.stem}`", rows.group(1) if rows else "", "; ".join(fitted), ", ".join(prior)])
    return table(["set", "rows in the fit", "fitted", "at the prior (assumed)"], lines), total


def page(document, inputs):
    figures, rows = document["figures"], document["rows"]
    sets, total = calibrations(inputs)
    steps = [row for row in rows if row["quantity"] == "step_time_s" and row["relative_error"] is not None]
    families = sorted_into(steps, lambda row: row["family"])
    by_family = table(["family"] + HALVES, [[f"`{name}`"] + halves(some) for name, some in sorted(families.items())])
    parts = {"families": by_family, "sets": sets, "num_fitted": total, "num_rows": len(steps), "excluded": excluded(rows)}
    text = TEXT.read_text()
    for name, value in parts.items():
        text = text.replace("{" + name + "}", str(value))
    for name in dict.fromkeys(figure["table"] for figure in figures):
        text = text.replace("{figures: " + name + "}", figure_table(figures, name))
    return text


# What the project wants of a figure: table, name, measure, value, and whether it is a lower limit.
STEP, MEMORY, OOM, ORDER = "step time", "memory", "out of memory", "order of layouts"
WANTED = [
    (STEP, "all complete rows", "mean", 0.065, False), (STEP, "all complete rows", "median", 0.04, False),
    (STEP, "all complete rows", "P90", 0.15, False),
    (STEP, "dense bf16/fp16 on A100 and H100", "mean", 0.048, False),
    (STEP, "dense bf16/fp16 on A100 and H100", "P90", 0.10, False),
    (STEP, "dense FP8 on H100, dense Blackwell", "mean", 0.058, False),
    (STEP, "MoE on Blackwell", "mean", 0.10, False),
    (STEP, "MoE on H100", "mean", 0.14, False), (STEP, "MoE on H100", "median", 0.07, False),
    (STEP, "dense Ascend", "mean", 0.075, False),
    (STEP, "Korthikanti and SC21, one set", "mean", 0.04, False),
    (STEP, "Korthikanti and SC21, one set", "worst", 0.10, False),
    (STEP, "SC21 ZeRO-3", "mean", 0.20, False), (STEP, "TorchTitan", "mean", 0.08, False),
    (STEP, "small models on one node", "mean", 0.065, False),
    ("step time converted from MFU or TFLOP/s", "all", "mean", 0.09, False),
    ("rows", "complete", "rows", 840, True), ("rows", "excluded", "share", 0.05, False),
    (MEMORY, "all", "rows", 100, True), (MEMORY, "all", "mean", 0.03, False), (MEMORY, "all", "P95", 0.09, False),
    (MEMORY, "all", "worst", 0.15, False), (MEMORY, "simumax_b200, allocated", "mean", 0.01, False),
    (MEMORY, "simumax_b200, allocated", "worst", 0.03, False),
    (MEMORY, "korthikanti2022, formula", "worst", 0.001, False),
    (OOM, "missed", "rows", 0, False), (OOM, "false alarms", "rows", 2, False),
    (ORDER, "BLOOM", "tau", 0.8, True), (ORDER, "MoE parallel folding", "tau with fitted rows", 0.8, True),
    ("scaling efficiency", "worst of dgxc_benchmarking", "difference", 0.05, False),
    ("scaling efficiency", "worst of internevo_7b", "difference", 0.05, False),
    ("scaling efficiency", "worst of mlperf_v41_gpt3", "difference", 0.05, False),
    ("scaling efficiency", "worst of pangu_ascend", "difference", 0.05, False),
    ("90 % interval", "complete rows", "held", 0.85, True),
    ("90 % interval", "complete rows", "held, at most", 0.95, False),
    ("90 % interval", "complete rows", "half-width to mean error", 2.5, False),
    ("fitted values", "all", "values", 120, False),
    ("fitted values", "all", "fewest rows that one touches", 5, True),
    ("fitted values", "all", "rows whose fit without their source is out of date", 0, False),
]
WANTED += [(STEP, name, "left out to reported", 2, False)
           for name in dict.fromkeys(entry for table, entry, *_ in WANTED if table == STEP)]


def limits(document):
    """Families: the mean error of the day, and a fifth more. Figures: what is wanted, or where it is missed the error of
    the day and a tenth."""
    rows, values = document["rows"], {(f["table"], f["name"], f["measure"]): f["value"] for f in document["figures"]}
    lines = ["# Largest allowed mean error of each family: the error of the day it was set plus a fifth. `windtunnel validate train` fails",
             "# above it. For oom: the share of wrong verdicts. Of the figures over all rows `target` is what the project wants of rows",
             "# that were not fitted; `limit`, where the target is missed, the figure of the day and a tenth.",
             "# Made by analysis/windtunnel_results/validation.py --limits."]
    for name, entry, measure, target, at_least in WANTED:
        value = values.get((name, entry, measure))
        if value is None:
            continue
        lines += ["", "[[figure]]", f'table = "{name}"', f'name = "{entry}"', f'measure = "{measure}"',
                  f"target = {target}"]
        if value < target if at_least else value > target:
            digits = max(0, 3 - math.floor(math.log10(abs(value)))) if value else 3
            limit = math.floor(value / 1.1 * 10**digits) / 10**digits if at_least else math.ceil(value * 1.1 * 10**digits) / 10**digits
            lines += [f"limit = {limit:.{digits}f}"]
        lines += ["at_least = true"] if at_least else []
    for quantity, some in sorted(sorted_into(rows, lambda row: row["quantity"]).items()):
        families = sorted_into(some, lambda row: row["family"])
        for name, group in [("all", some)] + sorted(families.items()):
            ordered = errors(group)
            if ordered:
                mean = math.ceil(statistics.fmean(ordered) * 1.2e4 - 1e-6) / 1e4
                lines += ["", "[[limit]]", f'family = "{name}"', f'quantity = "{quantity}"', f"mean = {mean:.4f}"]
    return "\n".join(lines) + "\n"


def main(words):
    parser = argparse.ArgumentParser(prog="windtunnel_results.validation", description=__doc__.splitlines()[0])
    parser.add_argument("rows", help="output of `windtunnel validate train --json`")
    parser.add_argument("inputs", type=pathlib.Path, help="the folder of the shipped inputs")
    parser.add_argument("--limits", action="store_true", help="write the limits that these errors give, and no page")
    arguments = parser.parse_args(words)
    document = json.loads(pathlib.Path(arguments.rows).read_text())
    sys.stdout.write(limits(document) if arguments.limits else page(document, arguments.inputs))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
