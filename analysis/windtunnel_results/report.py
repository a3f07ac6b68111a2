"""One HTML page of a result file: no network, scripts and data inside, text always as text. Recomputes nothing."""
import html
import json
import math
import os
import pathlib

from .packages import need
from .read import read

PAGE = pathlib.Path(__file__).with_name("page")
D3 = ("/usr/share/javascript/d3/d3.min.js", "/usr/share/nodejs/d3v3/d3.min.js")
MOST_ROWS = 4000            # of one table in the page
IN_ORDER_OF_TIME = ("train/timeline",)
MOST_TEXT = 1_000_000       # characters of one provenance value
TITLE_IN_TAB = 120


def drawing_library():
    """The text of D3, from $WINDTUNNEL_D3 or where Debian's libjs-d3 puts it."""
    for path in (os.environ.get("WINDTUNNEL_D3"), *D3):
        if path and os.path.exists(path):
            return pathlib.Path(path).read_text(encoding="utf-8")
    raise SystemExit("missing: the drawing library D3, version 3\ninstall it with: apt-get install libjs-d3\n"
                     "or name the file d3.min.js in WINDTUNNEL_D3")


def finite(value):
    """A value that JSON has: nan and infinities become null."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def sampled_rows(path, table):
    """Row numbers that the page takes: all of a small table, else evenly spaced ones; of a timeline the first ones."""
    count = len(table)
    if path in IN_ORDER_OF_TIME:
        return range(min(count, 2 * MOST_ROWS)), "the first ones"
    if count <= MOST_ROWS:
        return range(count), ""
    return [i * count // MOST_ROWS for i in range(MOST_ROWS)], "evenly spaced rows, the first one included"


def page_table(path, table):
    rows, sampling = sampled_rows(path, table)
    part = table.iloc[list(rows)]
    units, meaning = table.attrs.get("units", {}), table.attrs.get("long_name", {})
    columns = []
    for name in table.columns:
        values = [finite(value) for value in part[name].astype(object).tolist()]
        columns.append({"name": name, "units": units.get(name, ""), "long_name": meaning.get(name, ""), "values": values})
    return {"rows": len(table), "shown": len(part), "sampling": sampling, "columns": columns}


def shortened(value):
    if isinstance(value, list):
        return [shortened(item) for item in value]
    if isinstance(value, str) and len(value) > MOST_TEXT:
        return value[:MOST_TEXT] + f"\n... {len(value) - MOST_TEXT} more characters stand in the result file"
    return finite(value)


def title_of(result):
    """The title line of the plan, else the name of the file."""
    title = result.attributes.get("title") or plan_value(result, "title")
    return title or os.path.basename(result.path)


def plan_value(result, key):
    """`key = "value"` of the resolved plan; None when it is not there."""
    for line in str(result.provenance.get("plan", "")).splitlines():
        name, _, value = line.partition("=")
        if name.strip().split(".")[-1] == key:
            value = value.strip()
            try:
                return json.loads(value)
            except ValueError:
                return value
    return None


def page_data(result):
    kinds = sorted({path.split("/")[0] for path in result.tables})
    return {"title": str(title_of(result)), "kind": "windtunnel: " + ", ".join(kinds), "complete": result.complete,
            "tables": {path: page_table(path, table) for path, table in result.tables.items()},
            "provenance": {name: shortened(value) for name, value in result.provenance.items()}}


def inline(data):
    """JSON that may stand inside a script element: no end tag, no comment, no line separators."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def report_text(result):
    data = page_data(result)
    scripts = "\n".join((PAGE / name).read_text(encoding="utf-8")
                        for name in ("values.js", "parts.js", "sections.js", "start.js"))
    title = data["title"] if len(data["title"]) <= TITLE_IN_TAB else data["title"][:TITLE_IN_TAB] + " ..."
    parts = {"short_title": html.escape(title), "style": (PAGE / "style.css").read_text(encoding="utf-8"),
             "drawing": drawing_library().replace("</script", "<\\/script"), "scripts": scripts, "data": inline(data)}
    pieces = (PAGE / "page.html").read_text(encoding="utf-8").split("{{")
    text = pieces[0]
    for piece in pieces[1:]:                 # one pass, so that braces in the data stay what they are
        name, _, rest = piece.partition("}}")
        text += parts[name] + rest
    return text


def write_report(path, output):
    """Writes the page of the result file at `path`; gives its size in bytes."""
    need("h5py", "pandas")
    text = report_text(read(path))
    with open(output, "w", encoding="utf-8") as file:
        file.write(text)
    return len(text.encode("utf-8"))
