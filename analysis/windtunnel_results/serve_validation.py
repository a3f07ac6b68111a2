"""Writes the page of errors of serving from `windtunnel validate serve --json`; standard library only.

    windtunnel validate serve --json > rows.json
    PYTHONPATH=analysis python3 -m windtunnel_results.serve_validation rows.json inputs > docs/validation-serve.md

With --limits it writes inputs/measurements/serve/limits.toml instead: where a target is missed, the figure of the day and a
tenth.
"""
import argparse
import json
import pathlib
import re

TEXT = pathlib.Path(__file__).with_name("serve_validation_text.md")
PLAIN = ("half-width to mean error",)


def shown(measure, value):
    if value is None:
        return ""
    return f"{value:.2f}" if measure in PLAIN else f"{100.0 * value:.1f} %"


def figure_lines(figures):
    lines = ["| quantity | rows | which | measure | wanted | found | |", "|---|---|---|---|---|---|---|"]
    for figure in figures:
        target = figure["target"]
        missed = target is not None and (figure["value"] < target if figure["at_least"] else figure["value"] > target)
        lines.append(f"| {figure['table']} | {figure['rows']} | {figure['name']} | {figure['measure']} | "
                     f"{shown(figure['measure'], target)} | {shown(figure['measure'], figure['value'])} | "
                     f"{'missed' if missed else ''} |")
    return "\n".join(lines)


def family_lines(families):
    lines = ["| family | quantity | rows | mean | median | P90 | worst |", "|---|---|---|---|---|---|---|"]
    for family in families:
        if family["num_rows"] == 0 or family["family"] == "all" or family["quantity"].startswith("overlap"):
            continue
        cells = [f"{100.0 * family[key]:.1f} %" for key in ("mean", "median", "percentile_90", "worst")]
        lines.append(f"| `{family['family']}` | {family['quantity']} | {family['num_rows']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def overlap_lines(rows):
    lines = ["| point | measured gain | predicted |", "|---|---|---|"]
    for row in rows:
        if row["quantity"] == "overlap_gain":
            lines.append(f"| {row['id']} | {100.0 * row['measured']:+.1f} % | {100.0 * row['predicted']:+.1f} % |")
    return "\n".join(lines)


def reason_lines(rows):
    counts = {}
    for row in rows:
        if row["predicted"] is None:
            key = (row["family"].split("/")[0], row["reason"])
            counts[key] = counts.get(key, 0) + 1
    lines = ["| table | rows | why there is no prediction |", "|---|---|---|"]
    return "\n".join(lines + [f"| {name} | {count} | {reason} |" for (name, reason), count in sorted(counts.items())])


def set_lines(folder):
    lines = ["| set | weights | cache | gemm | gemm, 8 bit | attention | grouped memory | per layer | per step | all-reduce |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    keys = ("weights", "cache", "gemm", "gemm_8", "attention", "grouped_memory", "fixed_per_layer", "fixed_per_step",
            "all_reduce_latency")
    for path in sorted(folder.glob("*.toml")):
        text = path.read_text()
        if 'evidence = "fitted"' not in text:
            continue
        cells = []
        for key in keys:
            found = re.search(rf"^{key} = \"?([^\"\n#]+)\"?\s*(# fitted)?", text, re.MULTILINE)
            cells.append(found.group(1).strip() + ("" if found.group(2) else " (start)") if found else "")
        lines.append(f"| `{path.stem}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def limits(figures, path):
    """The file with the same tables; a missed target gets the figure of the day and a tenth as limit."""
    head = [line for line in path.read_text().splitlines() if line.startswith("#")]
    blocks = ["\n".join(head)]
    for figure in figures:
        if figure["target"] is None:
            continue
        lines = ["[[figure]]", f'table = "{figure["table"]}"', f'name = "{figure["name"]}"',
                 f'measure = "{figure["measure"]}"', f"target = {figure['target']:g}"]
        value, target = figure["value"], figure["target"]
        if figure["at_least"] and value < target:
            lines.append(f"limit = {0.9 * value:.4g}")
        elif not figure["at_least"] and value > target:
            lines.append(f"limit = {1.1 * value:.4g}")
        if figure["at_least"]:
            lines.append("at_least = true")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", type=pathlib.Path, help="output of windtunnel validate serve --json")
    parser.add_argument("inputs", type=pathlib.Path, help="folder of shipped inputs")
    parser.add_argument("--limits", action="store_true", help="write the limits instead of the page")
    arguments = parser.parse_args()
    answer = json.loads(arguments.rows.read_text())
    if arguments.limits:
        print(limits(answer["figures"], arguments.inputs / "measurements" / "serve" / "limits.toml"), end="")
        return
    text = TEXT.read_text()
    parts = {"FIGURES": figure_lines(answer["figures"]), "FAMILIES": family_lines(answer["families"]),
             "OVERLAP": overlap_lines(answer["rows"]), "REASONS": reason_lines(answer["rows"]),
             "SETS": set_lines(arguments.inputs / "engines")}
    for name, part in parts.items():
        text = text.replace("{" + name + "}", part)
    print(text, end="")


if __name__ == "__main__":
    main()
