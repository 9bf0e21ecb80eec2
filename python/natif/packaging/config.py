"""The settings of a build: from the command line, else the environment, else `[tool.natif]` in pyproject.toml, else the defaults.

    [tool.natif]
    paths = ["src"]                       # what natif check and natif build work on when no path is given
    exclude = ["tests/*", "**/legacy_*.py"]  # files left as they are, by path relative to pyproject.toml
    require = ["shop.scoring:score"]      # functions that have to be native: MODULE:NAME, * and ? match any
    target = "portable"                   # or "native", "x86-64-v2", "x86-64-v3", "x86-64-v4"
    numerics = "exact"                    # or "fast"
    lane = "auto"                         # or "tfe", "fused"
    jobs = 0                              # compilers at once; 0: one for each processor
    out = "dist"
    version-file = "src/shop/__init__.py" # where `__version__ = "…"` is, for a dynamic version

Environment: NATIF_TARGET, NATIF_NUMERICS, NATIF_LANE, NATIF_JOBS, NATIF_OUT.
"""

import os
import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from natif.packaging.errors import ConfigurationError

CHOICES = {
    "target": ("native", "portable", "x86-64-v2", "x86-64-v3", "x86-64-v4"),
    "numerics": ("exact", "fast"),
    "lane": ("auto", "tfe", "fused"),
}

_ENVIRONMENT = {"target": "NATIF_TARGET", "numerics": "NATIF_NUMERICS", "lane": "NATIF_LANE", "jobs": "NATIF_JOBS", "out": "NATIF_OUT"}
_LISTS = ("paths", "exclude", "require")


@dataclass(frozen=True)
class Settings:
    """What a build goes by. `root` is the folder of pyproject.toml, None where there is none."""

    target: str = "portable"
    numerics: str = "exact"
    lane: str = "auto"
    jobs: int = 0
    out: str = "dist"
    version_file: str = ""
    paths: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    require: tuple[str, ...] = ()
    root: Path | None = None
    project: dict[str, Any] = field(default_factory=dict)
    """The table `[project]` of pyproject.toml."""

    @property
    def parallel(self) -> int:
        """How many compilers run at once."""
        return self.jobs or len(os.sched_getaffinity(0))


def find_project(start: Path) -> Path | None:
    """The nearest folder, from `start` upwards, that has a pyproject.toml; None where none has, up to a repository's root."""
    start = start.resolve()
    for folder in [start, *start.parents] if start.is_dir() else start.parents:
        if (folder / "pyproject.toml").is_file():
            return folder
        if (folder / ".git").exists():
            return None
    return None


def load(start: Path, **given: Any) -> Settings:
    """The settings for work on `start`. `given` is what the command line says; None: nothing. ConfigurationError with file and cause."""
    root = find_project(start)
    table: dict[str, Any] = {}
    project: dict[str, Any] = {}
    if root is not None:
        content = read_toml(root / "pyproject.toml")
        project = _table(content, "project", root)
        table = _table(_table(content, "tool", root), "natif", root)
    values = _from_pyproject(table, root)
    values.update(_from_environment())
    values.update({name: _checked(name, value, _option(name)) for name, value in given.items() if value is not None})
    return Settings(**values, root=root, project=project)


def read_toml(file: Path) -> dict[str, Any]:
    """The file's content; ConfigurationError with the place of what is wrong in it."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"natif: {file} can't be read: {error}; correct it") from None


def _table(content: dict[str, Any], name: str, root: Path) -> dict[str, Any]:
    table = content.get(name, {})
    if not isinstance(table, dict):
        raise ConfigurationError(f"natif: {root / 'pyproject.toml'}: {name} is no table; write [{name}]")
    return table


def _from_pyproject(table: dict[str, Any], root: Path | None) -> dict[str, Any]:
    known = {each.name.replace("_", "-"): each.name for each in fields(Settings) if each.name not in ("root", "project")}
    values = {}
    for key, value in table.items():
        where = f"{root}/pyproject.toml: [tool.natif] {key}"
        if key not in known:
            raise ConfigurationError(f"natif: {where}: there is no such setting{_nearest(key, known)}; there are {', '.join(known)}")
        values[known[key]] = _checked(known[key], value, where)
    return values


def _nearest(key: str, known: Any) -> str:
    import difflib

    near = difflib.get_close_matches(key, known, 1)
    return f", did you mean {near[0]}?" if near else ""


def _from_environment() -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, variable in _ENVIRONMENT.items():
        text = os.environ.get(variable)
        if text:
            values[name] = _checked(name, int(text) if name == "jobs" and text.isdecimal() else text, variable)
    return values


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _checked(name: str, value: Any, where: str) -> Any:
    """The value as Settings keeps it; ConfigurationError that names where it was set and what it can be."""
    if name in CHOICES:
        if value not in CHOICES[name]:
            raise ConfigurationError(f"natif: {where} is one of {', '.join(CHOICES[name])}, not {value!r}")
    elif name == "jobs":
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise ConfigurationError(f"natif: {where} is a number of compilers, 0 for one a processor, not {value!r}")
    elif name in _LISTS:
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            raise ConfigurationError(f"natif: {where} is a list of strings, not {value!r}")
        return tuple(value)
    elif not isinstance(value, str) or not value:
        raise ConfigurationError(f"natif: {where} is a string, not {value!r}")
    return value
