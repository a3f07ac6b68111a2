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


def source_files(inputs):
    files = {}
    for path in sorted((inputs / "measurements/train").glob("*.json")):
        document = json.loads(path.read_text())
        for record in document.get("records", []) if isinstance(document, dict) else document:
            files[record["id"]] = (path.stem, record)
    return files


def converted(record):
    """The step follows from printed MFU or TFLOP/s."""
    measured = record.get("measured") or {}
    return not any(measured.get(key) for key in ("step_time_s", "tokens_per_s", "tokens_per_s_per_card"))


GROUPS = [  # name, limit that the project sets itself on rows not fitted, which rows
    ("all rows with a step time", "mean 6.5, median 4.0, P90 15", lambda f, file: True),
    ("dense bf16/fp16 on A100 and H100", "4.8, P90 10",
     lambda f, file: f[0][:4] in ("A100", "H100") and f[1] in ("bf16", "fp16") and f[2] == "dense"),
    ("dense FP8 on H100; dense Blackwell", "5.8",
     lambda f, file: f[2] == "dense" and ((f[0].startswith("H100") and f[1] == "fp8") or blackwell(f[0]))),
    ("MoE on Blackwell", "10", lambda f, file: f[2] == "moe" and blackwell(f[0])),
    ("MoE on H100", "mean 14, median 7", lambda f, file: f[2] == "moe" and f[0].startswith("H100")),
    ("dense Ascend", "7.5", lambda f, file: f[2] == "dense" and f[0].startswith("Ascend")),
    ("Korthikanti and SC21, one set", "4, worst 10",
     lambda f, file: file in ("korthikanti2022", "megatron_sc21") and f[3] == "megatron_2023"),
    ("TorchTitan", "8", lambda f, file: file == "torchtitan"),
    ("single-node small models (`vtrain_single`)", "6.5", lambda f, file: file == "vtrain_single"),
]


def blackwell(card):
    return card.startswith(("B200", "B300", "GB200", "GB300"))


def group_tables(rows, files):
    steps = [row for row in rows if row["quantity"] == "step_time_s" and row["relative_error"] is not None]
    groups = [[name, wanted] + halves([row for row in steps if chosen(row["family"].split("/"), files[row["id"]][0])])
              for name, wanted, chosen in GROUPS]
    by_file = [[f"`{name}`", kind] + halves(some) for (name, kind), some in
               sorted(sorted_into(steps, lambda row: (files[row["id"]][0], row["family"].split("/")[2])).items())]
    assumed = sorted_into(steps, lambda row: "assumed: " + ", ".join(row["assumed"]) if row["assumed"] else "all printed")
    return (table(["rows", "wanted, %"] + HALVES, groups), table(["source file", "kind"] + HALVES, by_file),
            table(["knobs"] + HALVES, [[name] + halves(some) for name, some in sorted(assumed.items())]))


def sorted_into(rows, key):
    groups = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def other_quantities(rows, files):
    lines = []
    for quantity in ("memory_bytes", "mfu"):
        some = [row for row in rows if row["quantity"] == quantity and row["relative_error"] is not None]
        lines += [[quantity, f"`{name}`"] + halves(group)
                  for name, group in sorted(sorted_into(some, lambda row: files[row["id"]][0]).items())]
    verdicts = [row for row in rows if row["quantity"] == "oom" and row["predicted"] is not None]
    missed = sum(row["measured"] == 1 and row["predicted"] == 0 for row in verdicts)
    alarms = sum(row["measured"] == 0 and row["predicted"] == 1 for row in verdicts)
    ran_out = sum(row["measured"] == 1 for row in verdicts)
    return (table(["quantity", "source file"] + HALVES, lines) +
            f"\n\nOut of memory: {len(verdicts)} verdicts, {ran_out} rows that ran out; {missed} missed, {alarms} false alarms.")


def coverage(rows):
    some = [row for row in rows if row["quantity"] == "step_time_s" and row["low"] is not None and not row["used_to_fit"]]
    inside = sum(row["low"] <= row["measured"] <= row["high"] for row in some)
    half_widths = sorted(0.5 * (row["high"] - row["low"]) / row["predicted"] for row in some)
    return (f"The printed 90 % interval holds {percent(inside / len(some))} % of the {len(some)} rows not fitted; its median "
            f"half-width is {percent(quantile(half_widths, 0.5))} %.")


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
        prior = [key for key, value, mark in values
                 if not mark and not key.startswith("fitted_") and key not in ("name", "version", "evidence", "source")]
        rows = re.search(r"(\d+) published rows", text)
        total += len(fitted)
        lines.append([f"`{path.stem}`", rows.group(1) if rows else "", "; ".join(fitted), ", ".join(prior)])
    return table(["set", "rows in the fit", "fitted", "at the prior (assumed)"], lines), total


def page(rows, inputs):
    files = source_files(inputs)
    rows = [row for row in rows if row["id"] in files]
    sets, total = calibrations(inputs)
    groups, by_file, assumed = group_tables(rows, files)
    steps = [row for row in rows if row["quantity"] == "step_time_s" and row["relative_error"] is not None]
    from_rates = sum(converted(files[row["id"]][1]) for row in steps)
    families = sorted_into(steps, lambda row: row["family"])
    by_family = table(["family"] + HALVES, [[f"`{name}`"] + halves(some) for name, some in sorted(families.items())])
    parts = {"groups": groups, "files": by_file, "families": by_family, "assumed": assumed, "sets": sets,
             "num_fitted": total, "num_rows": len(steps), "num_converted": from_rates,
             "others": other_quantities(rows, files), "coverage": coverage(rows), "excluded": excluded(rows)}
    text = TEXT.read_text()
    for name, value in parts.items():
        text = text.replace("{" + name + "}", str(value))
    return text


def limits(rows):
    """The mean error of the day, and a fifth more, rounded up to a hundredth of a percent."""
    lines = ["# Largest allowed mean error of each family: the error of the day it was set plus a fifth. `windtunnel validate train` fails",
             "# above it. For oom: the share of wrong verdicts. Made by analysis/windtunnel_results/validation.py --limits."]
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
    sys.stdout.write(limits(document["rows"]) if arguments.limits else page(document["rows"], arguments.inputs))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
