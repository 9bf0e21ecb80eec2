"""The report of a project's files, and the functions in it that have to be native and are not."""

import ast
from collections.abc import Sequence
from pathlib import Path

from natif.packaging.config import Settings
from natif.packaging.errors import ConfigurationError
from natif.packaging.modules import required_names, unmet
from natif.packaging.project import excluded
from natif.report import Report


def check(paths: Sequence[str], settings: Settings) -> tuple[Report, list[str]]:
    """The report of the paths (else of the settings' paths, else of the current folder), and a line for each unmet requirement."""
    from natif.checking import check_file, python_files

    if not paths and settings.root is not None:
        paths = [str(settings.root / path) for path in settings.paths]
    try:
        files = python_files([Path(path) for path in paths] or [Path.cwd()])
    except FileNotFoundError as error:
        raise ConfigurationError(f"{error}; name files and folders that exist") from None
    files = [file for file in files if not excluded(file, settings)]
    reports = [check_file(file) for file in files]
    whole = Report(
        tuple(function for report in reports for function in report.functions),
        tuple(problem for report in reports for problem in report.problems),
    )
    return whole, unmet(whole, {str(file): module_name(file) for file in files}, settings, _required(files))


def module_name(file: Path) -> str:
    """The dotted name by which the file is imported, from the packages that it lies in."""
    file = file.absolute()
    parts = [] if file.stem == "__init__" else [file.stem]
    folder = file.parent
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts)


def _required(files: Sequence[Path]) -> set[tuple[str, str]]:
    """The functions, as (file, name), that a decorator requires to be native."""
    required = set()
    for file in files:
        try:
            source = file.read_bytes()
            if b"require" in source:
                required |= {(str(file), name) for name in required_names(ast.parse(source))}
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue  # a problem of the report already
    return required
