"""Imports of packages that may be missing, with a message that says what to install."""
import importlib

DEBIAN = {"h5py": "python3-h5py", "pandas": "python3-pandas", "matplotlib": "python3-matplotlib"}


class MissingPackage(SystemExit):
    pass


def need(*names):
    """The modules by name; MissingPackage names all that are absent and how to install them."""
    modules, missing = [], []
    for name in names:
        try:
            modules.append(importlib.import_module(name))
        except ImportError:
            missing.append(name.split(".")[0])
    if missing:
        packages = " ".join(DEBIAN.get(name, name) for name in missing)
        raise MissingPackage(f"missing Python package: {', '.join(missing)}\n"
                             f"install it with: apt-get install {packages}\n"
                             f"or, in an environment of your own: pip install {' '.join(missing)}")
    return modules[0] if len(modules) == 1 else modules
