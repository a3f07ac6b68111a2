"""A result file as pandas tables. Units and descriptions stand in each table's `attrs`."""
from .packages import need


class Result:
    """Tables below /results by path ("search/best"), and the run's provenance."""

    def __init__(self, path):
        h5py = need("h5py")
        self.path = str(path)
        self.tables = {}
        self.provenance = {}
        with h5py.File(self.path, "r") as file:
            self.attributes = {name: _plain(value) for name, value in file.attrs.items()}
            if "results" in file:
                self._read_group(file["results"], "")
            if "provenance" in file:
                self._read_provenance(file["provenance"], "")

    def __getitem__(self, table):
        if table not in self.tables:
            raise KeyError(f"{self.path} has no table {table}; it has: {', '.join(self.tables) or 'none'}")
        return self.tables[table]

    def __contains__(self, table):
        return table in self.tables

    @property
    def complete(self):
        return bool(self.attributes.get("complete", False))

    def _read_group(self, group, path):
        h5py, pandas = need("h5py", "pandas")
        columns, units, long_names = {}, {}, {}
        for name, item in group.items():
            if isinstance(item, h5py.Group):
                self._read_group(item, f"{path}/{name}" if path else name)
            elif item.ndim == 1:
                columns[name] = _values(item)
                units[name] = _plain(item.attrs.get("units", ""))
                long_names[name] = _plain(item.attrs.get("long_name", ""))
        if columns:
            table = pandas.DataFrame(columns)
            table.attrs["units"] = units
            table.attrs["long_name"] = long_names
            self.tables[path] = table

    def _read_provenance(self, group, path):
        h5py = need("h5py")
        for name, value in group.attrs.items():
            self.provenance[path + name] = _plain(value)
        for name, item in group.items():
            if isinstance(item, h5py.Group):
                self._read_provenance(item, f"{path}{name}/")
            elif item.ndim == 0:
                self.provenance[path + name] = _plain(item[()])
            else:
                self.provenance[path + name] = [_plain(value) for value in item[()]]


def read(path):
    """The result file at `path`."""
    return Result(path)


def _plain(value):
    """Bytes and numpy scalars as Python values."""
    if isinstance(value, bytes):
        return value.decode("utf-8").rstrip("\0")
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value


def _values(dataset):
    """A column: numbers as they are, enums as categories, strings as str."""
    h5py, pandas = need("h5py", "pandas")
    names = h5py.check_enum_dtype(dataset.dtype)
    if names:
        codes = sorted(names.values())
        by_code = {code: name for name, code in names.items()}
        place = pandas.Index(codes).get_indexer(dataset[()])        # a code without a name becomes a missing value
        return pandas.Categorical.from_codes(place, categories=[by_code[code] for code in codes])
    if h5py.check_string_dtype(dataset.dtype) is not None or dataset.dtype.kind == "S":
        return [_plain(value) for value in dataset[()]]
    return dataset[()]
