"""natif.check: the report of files and folders, from their text alone."""

import os
from pathlib import Path
from typing import Any

from natif.report import FunctionReport, Report, Site, function_report

_SKIPPED_FOLDERS = {"__pycache__", "node_modules", "site-packages"}


def check(*paths: Any) -> Report:
    """See natif.check. FileNotFoundError for a path that does not exist."""
    functions: list[FunctionReport] = []
    problems: list[Site] = []
    for file in python_files(paths or (Path.cwd(),)):
        report = check_file(file)
        functions.extend(report.functions)
        problems.extend(report.problems)
    return Report(tuple(functions), tuple(problems))


def python_files(paths: Any) -> list[Path]:
    """The .py files that the paths stand for, each once, in the order of the paths and of the names in a folder."""
    files: dict[Path, None] = {}
    for path in map(Path, paths):
        if path.is_dir():
            files.update(dict.fromkeys(_files_below(path)))
        elif path.exists():
            files[path] = None
        else:
            raise FileNotFoundError(f"natif: there is no file or folder {path}")
    return list(files)


def check_file(file: Path) -> Report:
    """The report of one file. Its functions count where natif.native decorates them or a tensor marker is among their annotations."""
    import ast
    import tokenize

    from natif import _compiler

    try:
        with tokenize.open(file) as stream:
            text = stream.read()
        tree = ast.parse(text, str(file))
    except SyntaxError as error:
        return Report(problems=(_problem(file, error.lineno or 1, (error.offset or 1) - 1, f"it does not parse: {error.msg}"),))
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        return Report(problems=(_problem(file, 1, 0, f"it can't be read: {error}"),))
    if not may_have_typed_functions(text):
        return Report()
    plans = _compiler.plan_module(tree, str(file), file.stem)
    return Report(tuple(function_report(claim, str(file), sites) for claim, sites in plans if claim["decorated"] or claim["marked"]))


def may_have_typed_functions(text: str) -> bool:
    """Whether the text names any module that natif's decorator or a marker comes from."""
    return "natif" in text or "rextio_tensorflow" in text


def _files_below(folder: Path) -> list[Path]:
    found: list[Path] = []
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED_FOLDERS)
        found.extend(Path(root) / name for name in sorted(names) if name.endswith(".py"))
    return found


def _problem(file: Path, line: int, column: int, message: str) -> Site:
    suggestion = "correct the file, or leave it out of what is checked"
    return Site(line, max(column, 0), line, max(column, 0), file.name, "NotCovered", code="NTF-SOURCE-2", message=message,
                suggestion=suggestion, lane="python", file=str(file))  # fmt: skip
