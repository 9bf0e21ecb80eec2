"""The first `[tool.natif]` of a project."""

import re
from pathlib import Path

from natif.packaging import config
from natif.packaging.errors import ConfigurationError
from natif.packaging.output import write_file

_TABLE = """\
# natif: typed TensorFlow functions as native code. All settings: docs/packaging.md
[tool.natif]
# What `natif check` and `natif build` work on when no path is given.
{paths}
# Files that are left as they are, by path from this folder.
# exclude = ["**/legacy_*.py"]
# Functions that have to be native, as MODULE:NAME; otherwise `natif build` and `natif check --strict` fail.
# require = ["{package}.scoring:*"]
# "portable" runs on every processor of this kind and picks the code for it; "native" is for this one.
# target = "portable"
# "exact" gives eager's very bits; "fast" may differ within documented bounds.
# numerics = "exact"
"""

_PROJECT = """\
[build-system]
requires = ["natif"]
build-backend = "natif.buildapi"

[project]
name = "{name}"
version = "0.1.0"
requires-python = ">=3.11"

"""


def initialise(folder: Path) -> str:
    """Adds the table, or writes the file with it, and returns what was done. ConfigurationError where the file can't be read."""
    if not folder.is_dir():
        raise ConfigurationError(f"natif: {folder} is no folder; name the project's")
    folder = folder.resolve()
    file = folder / "pyproject.toml"
    table = _TABLE.format(paths=_paths(folder), package=_package(folder))
    if not file.exists():
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", folder.name).strip("-._") or "project"
        write_file(file, (_PROJECT.format(name=name) + table).encode())
        return f"wrote {file}"
    if "natif" in config.read_toml(file).get("tool", {}):
        return f"{file} has [tool.natif] already; it is left as it is"
    before = file.read_bytes()
    ending = b"\r\n" if b"\r\n" in before else b"\n"
    gap = ending if before.endswith(ending) else ending * 2
    write_file(file, before + (gap if before else b"") + table.encode().replace(b"\n", ending))
    return f"added [tool.natif] to {file}"


def _paths(folder: Path) -> str:
    if (folder / "src").is_dir():
        return 'paths = ["src"]'
    package = _package(folder)
    return f'paths = ["{package}"]' if (folder / package / "__init__.py").is_file() else '# paths = ["src"]'


def _package(folder: Path) -> str:
    base = folder / "src" if (folder / "src").is_dir() else folder
    packages = [each.name for each in sorted(base.iterdir()) if (each / "__init__.py").is_file() and each.name not in ("tests", "test")]
    return packages[0] if packages else "package"
