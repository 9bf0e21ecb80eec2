"""What is built: from paths to the packages and modules of a distribution, and the name and version that it goes by."""

import fnmatch
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from natif.packaging.config import Settings
from natif.packaging.errors import ConfigurationError, SourceError

_NOT_PACKAGES = {"tests", "test", "docs", "doc", "examples", "build", "dist", "scripts", "tools", "bench", "benchmarks"}
"""Folders beside a project's packages that setuptools' automatic discovery leaves out too."""

_LEFT_OUT = {"__pycache__", "_natif"}


@dataclass(frozen=True)
class SourceFile:
    """One file of a distribution: where it is, where it goes (a path in the wheel), and its module's name; "" where it is no module."""

    path: Path
    place: PurePosixPath
    module: str


@dataclass(frozen=True)
class Top:
    """A top-level package or module. `folder` is where its manifest goes, as a path in the wheel."""

    name: str
    path: Path
    files: tuple[SourceFile, ...]

    @property
    def is_package(self) -> bool:
        """Whether it is a folder rather than a single module."""
        return self.path.is_dir()

    @property
    def folder(self) -> PurePosixPath:
        """Where the artifacts and the manifest go."""
        return PurePosixPath(self.name, "_natif") if self.is_package else PurePosixPath(f"{self.name}_natif")


@dataclass(frozen=True)
class Project:
    """What one build makes a wheel of."""

    tops: tuple[Top, ...]
    settings: Settings

    @property
    def files(self) -> list[SourceFile]:
        """The files of all packages."""
        return [file for top in self.tops for file in top.files]

    @property
    def name(self) -> str:
        """The distribution's name: pyproject.toml's, else that of the first package."""
        name = self.settings.project.get("name", self.tops[0].name)
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", name):
            where = f"{self.settings.root}/pyproject.toml: [project] name" if "name" in self.settings.project else f"the package {name!r}"
            raise ConfigurationError(f"natif: {where} can't name a wheel (letters, digits, . _ -); set a [project] name in pyproject.toml")
        return name


def find(paths: Sequence[str | os.PathLike[str]], settings: Settings) -> Project:
    """The project of these paths, else of the settings' paths, else of pyproject.toml's folder; ConfigurationError where there is none."""
    if not paths:
        base = settings.root or Path.cwd()
        paths = [base / path for path in settings.paths] or [base]
    tops: dict[str, Top] = {}
    for path in map(Path, paths):
        found = list(_tops_of(path.absolute(), settings))
        if not found:
            raise ConfigurationError(
                f"natif: {path} has no package and no module to build; name a package, a folder of packages or a .py file"
            )
        for top in found:
            if top.name in tops and tops[top.name].path != top.path:
                raise ConfigurationError(f"natif: {top.path} and {tops[top.name].path} are both the package {top.name}; build one of them")
            tops[top.name] = top
    return Project(tuple(tops[name] for name in sorted(tops)), settings)


def _tops_of(path: Path, settings: Settings) -> Iterator[Top]:
    if path.is_file():
        if path.suffix != ".py" or not path.stem.isidentifier():
            raise ConfigurationError(f"natif: {path} is no Python module that can be imported by its name; name a package or a .py file")
        if path.stem == "__init__":
            path = path.parent
        elif (path.parent / "__init__.py").is_file():
            raise ConfigurationError(f"natif: {path} is part of the package {path.parent}; build the package")
        else:
            yield Top(path.stem, path, (SourceFile(path, PurePosixPath(path.name), path.stem),))
            return
    if not path.is_dir():
        raise ConfigurationError(f"natif: {path} does not exist; name a package, a folder of packages or a .py file")
    if (path / "__init__.py").is_file():
        yield _package(_top_package(path), settings)
    else:
        yield from _packages_in(path, settings)


def _top_package(path: Path) -> Path:
    while (path.parent / "__init__.py").is_file():
        path = path.parent
    return path


def _packages_in(folder: Path, settings: Settings) -> Iterator[Top]:
    """The packages of a folder that is none; of a project's folder those of its `src`, where there is one."""
    is_project = (folder / "pyproject.toml").is_file()
    if is_project and (folder / "src").is_dir():
        yield from _packages_in(folder / "src", settings)
        return
    packages = [each for each in sorted(folder.iterdir()) if (each / "__init__.py").is_file() and each.name.isidentifier()]
    found = [each for each in packages if not (is_project and each.name in _NOT_PACKAGES)]
    for package in found:
        yield _package(package, settings)
    modules = [each for each in sorted(folder.glob("*.py")) if each.stem.isidentifier()]
    if is_project:
        # Beside packages, a project's loose files are its tools; without packages, the module that has its name is the project.
        own = str(settings.project.get("name", "")).replace("-", "_").replace(".", "_").lower()
        modules = [] if found else [each for each in modules if each.stem.lower() == own]
    for module in modules:
        yield Top(module.stem, module, (SourceFile(module, PurePosixPath(module.name), module.stem),))


def _package(folder: Path, settings: Settings) -> Top:
    if not folder.name.isidentifier():
        raise ConfigurationError(f"natif: the folder {folder} can't be imported by its name; rename it")
    files = []
    for path in _files_below(folder):
        place = PurePosixPath(folder.name, *path.relative_to(folder).parts)
        files.append(SourceFile(path, place, _module_name(place, path, settings)))
    return Top(folder.name, folder, tuple(files))


def _files_below(folder: Path) -> Iterator[Path]:
    try:
        entries = sorted(folder.iterdir(), key=lambda entry: entry.name)
    except OSError as error:
        raise SourceError(f"natif: {folder} can't be read: {error.strerror}; correct its permissions or exclude it") from None
    for entry in entries:
        if entry.name in _LEFT_OUT or entry.name.endswith((".pyc", ".pyo", "~")) or entry.name.startswith("."):
            continue
        if entry.is_dir():
            # A link to a folder above would have no end.
            if not (entry.is_symlink() and entry.resolve() in [folder.resolve(), *folder.resolve().parents]):
                yield from _files_below(entry)
        elif entry.is_file():
            yield entry


def _module_name(place: PurePosixPath, path: Path, settings: Settings) -> str:
    """The dotted name by which the file is imported; "" where it can't be, or where the settings exclude it."""
    parts = [*place.parts[:-1], place.stem]
    if place.suffix != ".py" or not all(part.isidentifier() for part in parts) or excluded(path, settings):
        return ""
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def excluded(path: Path, settings: Settings) -> bool:
    """Whether the settings leave this file as it is."""
    if settings.root is None:
        return False
    try:
        relative = path.absolute().relative_to(settings.root)
    except ValueError:
        return False
    return any(_matches(relative, pattern) for pattern in settings.exclude)


def _matches(relative: Path, pattern: str) -> bool:
    """As .gitignore does it for paths: `**/` stands for any folders, also none; a folder stands for all in it."""
    folders = ["/".join(relative.parts[: count + 1]) for count in range(len(relative.parts))]
    patterns = {pattern.rstrip("/"), pattern.rstrip("/").removeprefix("**/")}
    return any(fnmatch.fnmatchcase(folder, each) for folder in folders for each in patterns)
