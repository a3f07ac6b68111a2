"""Several result files side by side: every estimate that they share, its interval, and the inputs that differ."""
from .read import read

KEYS = ("variant", "part", "phase", "cause", "stage", "point", "fraction", "rank", "verdict", "measure", "quantity")
SHOWN = ("train/summary", "train/parts", "search/best", "rehearsal/summary", "rehearsal/time_to_tokens", "avail/summary",
         "serve/summary", "serve/latency")
FIRST_RANKS = 1          # of search/best: the winner


def key_of(row, columns):
    return tuple((name, row[name]) for name in KEYS if name in columns)


def interval(row, name, columns):
    """(low, high) of a column `x` or `x_s` where the table has x_low and x_high; (None, None) otherwise."""
    stem, unit = (name[:-2], "_s") if name.endswith("_s") else (name, "")
    for low, high in ((f"{stem}_low{unit}", f"{stem}_high{unit}"), (f"low{unit}", f"high{unit}")):
        if low in columns and high in columns and name not in (low, high):
            return row[low], row[high]
    return None, None


def is_estimate(table, name):
    return (table[name].dtype.kind in "fiu" and name not in KEYS and
            not any(mark in name for mark in ("_low", "_high", "standard_error")) and name not in ("low_s", "high_s"))


def estimates(result):
    """{(table, key, column): (value, low, high, unit)} of the tables that are worth comparing."""
    found = {}
    for path in SHOWN:
        if path not in result:
            continue
        table = result[path]
        columns = list(table.columns)
        rows = table.head(FIRST_RANKS) if path == "search/best" else table
        for _, row in rows.iterrows():
            for name in columns:
                if is_estimate(table, name):
                    low, high = interval(row, name, columns)
                    found[(path, key_of(row, columns), name)] = (row[name], low, high, table.attrs["units"].get(name, ""))
    return found


def differing_inputs(results):
    """Lines of the resolved plans that are not the same everywhere."""
    plans = []
    for result in results:
        lines = str(result.provenance.get("plan", "")).splitlines()
        plans.append(dict(line.split(" = ", 1) for line in lines if " = " in line))
    names = sorted(set().union(*plans))
    return [(name, [plan.get(name, "(not there)") for plan in plans]) for name in names
            if len({plan.get(name) for plan in plans}) > 1]


def number(value):
    return "nan" if value != value else f"{value:.6g}"


def compare(paths):
    results = [read(path) for path in paths]
    tables = [estimates(result) for result in results]
    lines = [f"{chr(65 + i) if i < 26 else i + 1} = {path}" for i, path in enumerate(paths)]
    lines += ["", "table\trow\tquantity\tunit\t" + "\t".join(f"{path}\tlow\thigh\tdelta to first\tintervals" for path in paths)]
    for key in tables[0]:
        if not all(key in table for table in tables):
            continue
        values = [table[key] for table in tables]
        if all(value[0] == values[0][0] or (value[0] != value[0] and values[0][0] != values[0][0]) for value in values):
            continue
        cells = []
        for value, low, high, _ in values:
            first, first_low, first_high, _ = values[0]
            known = None not in (low, high, first_low, first_high)
            apart = "" if not known else "apart" if low > first_high or high < first_low else "overlap"
            cells += [number(value), "" if low is None else number(low), "" if high is None else number(high),
                      number(value - first), apart]
        path, row, name = key
        lines.append("\t".join([path, " ".join(f"{k}={v}" for k, v in row), name, values[0][3], *cells]))
    missing = sorted({key[0] for table in tables for key in table if not all(key in other for other in tables)})
    if missing:
        lines.append("rows that not all files have, in: " + ", ".join(missing))
    lines += ["", "inputs that differ"]
    different = differing_inputs(results)
    lines += [f"{name}\t" + "\t".join(values) for name, values in different] or ["none"]
    return "\n".join(lines) + "\n"
