"""Finding what a command line names as MODULE:FUNCTION. MODULE is a dotted name, or the path of a .py file."""

import importlib
import importlib.machinery
import sys
from pathlib import Path
from typing import Any

from natif.packaging.checks import module_name
from natif.packaging.errors import ConfigurationError


def split(target: str) -> tuple[str, str]:
    """The module's and the function's part."""
    module, colon, function = target.rpartition(":")
    if not colon or not module or not function:
        raise ConfigurationError(f"natif: {target!r} names no function; write MODULE:FUNCTION, such as shop.scoring:score")
    return module, function


def source_file(module: str) -> Path:
    """The source of a module, found on the import path and below the current folder, without importing anything."""
    if module.endswith(".py"):
        return _existing(module)
    folders = [str(Path.cwd()), str(Path.cwd() / "src"), *sys.path]
    spec = None
    for step in module.split("."):
        spec = importlib.machinery.PathFinder.find_spec(step, folders)
        if spec is None:
            raise ConfigurationError(f"natif: there is no module {module} here or on the import path; name it, or the path of its .py file")
        folders = list(spec.submodule_search_locations or [])
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        raise ConfigurationError(f"natif: the module {module} has no Python source; name one that has")
    return Path(spec.origin)


def _existing(module: str) -> Path:
    file = Path(module)
    if not file.is_file():
        raise ConfigurationError(f"natif: the file {module} does not exist; name a module or a .py file")
    return file


def imported(target: str) -> Any:
    """The function itself; imports its module. ConfigurationError that names what is missing."""
    module, function = split(target)
    for folder in (str(Path.cwd() / "src"), str(Path.cwd())):
        if folder not in sys.path:
            sys.path.insert(0, folder)
    if module.endswith(".py"):
        file = _existing(module).absolute()
        module = module_name(file)
        sys.path.insert(0, str(file.parents[module.count(".") + (file.stem == "__init__")]))
    try:
        found: Any = importlib.import_module(module)
    except ImportError as error:
        raise ConfigurationError(f"natif: {module} can't be imported: {error}; correct that, or name another module") from None
    except Exception as error:
        raise ConfigurationError(f"natif: {module} can't be imported: {type(error).__name__}: {error}; correct the module") from None
    for step in function.split("."):
        if not hasattr(found, step):
            raise ConfigurationError(f"natif: {module} has no function {function}; name one that it has")
        found = getattr(found, step)
    return found
