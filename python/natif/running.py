"""Runs a program with natif.install(): its own typed functions are native too."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from natif import hook


class ProgramError(Exception):
    """There is no such program."""


def run_script(file: str, arguments: Sequence[str]) -> None:
    """Runs a script as `python FILE ARGUMENTS…` does. ProgramError where it can't be read or parsed."""
    path = Path(file)
    try:
        source = path.read_bytes()
    except OSError as error:
        raise ProgramError(f"natif: the script {file} can't be read: {error.strerror}; name one that exists") from None
    sys.path.insert(0, str(path.parent.resolve()))
    _run(source, os.fspath(path), None, arguments)


def run_module(name: str, arguments: Sequence[str]) -> None:
    """Runs a module as `python -m NAME ARGUMENTS…` does. ProgramError where there is none."""
    import importlib.util

    hook.install()
    sys.path.insert(0, os.getcwd())  # noqa: PTH109
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except ModuleNotFoundError:
        spec = None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        raise ProgramError(f"natif: there is no module {name} with a source to run; name one that can be imported")
    _run(Path(spec.origin).read_bytes(), spec.origin, spec, arguments)


def _run(source: bytes, file: str, spec: object, arguments: Sequence[str]) -> None:
    hook.install()
    module = ModuleType("__main__")
    module.__dict__.update(__file__=file, __spec__=spec, __builtins__=__builtins__)
    if spec is not None:
        module.__package__ = getattr(spec, "parent", None)
    sys.modules["__main__"] = module
    sys.argv[:] = [file, *arguments]
    try:
        code = hook.code_of(source, file, "__main__")
    except SyntaxError as error:
        raise ProgramError(f"natif: {file}:{error.lineno}: the script does not parse: {error.msg}; correct it") from None
    hook.provide_decorator(module.__dict__)
    try:
        exec(code, module.__dict__)
    except Exception as error:
        # As Python shows it: the traceback begins in the program.
        shown = error.with_traceback(error.__traceback__.tb_next if error.__traceback__ else None)
        sys.excepthook(type(shown), shown, shown.__traceback__)
        raise SystemExit(1) from None
