"""natif.install(): from then on the typed functions of imported modules are native, without a decorator and without a build.

A finder before Python's own gives modules whose source mentions natif's markers to a loader that puts natif.native on every function with a
marker annotation and no decorator, at the place where the function is defined. All else goes the way that it always does, through the same
pipeline and cache as natif.native. Such a module's bytecode is not cached: what Python caches stays what the file says.
"""

import ast
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from types import CodeType, ModuleType
from typing import Any

_MARKER_MODULES = (b"natif", b"rextio_tensorflow")
DECORATOR = "__natif_native__"
"""The name of natif.native in a module that was compiled as it was imported."""


def install(packages: Sequence[str] | None = None) -> None:
    """From now on, modules are compiled as they are imported; once is enough. `packages`: only these top-level names, all where None."""
    installed = next((finder for finder in sys.meta_path if isinstance(finder, Finder)), None)
    if installed is None:
        sys.meta_path.insert(0, Finder(packages))
    elif installed.packages is not None:
        installed.packages = None if packages is None else (*installed.packages, *packages)


def uninstall() -> None:
    """Takes the finder away again; modules that have been imported stay as they are."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, Finder)]


class Finder(importlib.abc.MetaPathFinder):
    """Finds as Python's path finder does, and gives source files natif's loader."""

    def __init__(self, packages: Sequence[str] | None = None):
        self.packages = None if packages is None else tuple(packages)

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        """The spec with natif's loader; None where the module is not natif's to load."""
        top = fullname.partition(".")[0]
        if top == "natif" or (self.packages is not None and top not in self.packages):
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or type(spec.loader) is not importlib.machinery.SourceFileLoader:
            return None
        spec.loader = Loader(spec.loader.name, spec.loader.path)
        return spec


class Loader(importlib.machinery.SourceFileLoader):
    """Loads a source file with its typed functions decorated."""

    def get_code(self, fullname: str) -> CodeType | None:
        """The module's code; past the bytecode cache where there may be typed functions."""
        data = self.get_data(self.path)
        if not any(name in data for name in _MARKER_MODULES):
            return super().get_code(fullname)
        return self.source_to_code(data, self.path)

    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> CodeType:  # type: ignore[override]
        """Compiles the source, decorated where it parses and natif finds typed functions in it."""
        return code_of(data, str(path), self.name, optimize=_optimize)

    def exec_module(self, module: ModuleType) -> None:
        """Runs the module, which finds the decorator under the name that the code uses."""
        provide_decorator(module.__dict__)
        super().exec_module(module)


def provide_decorator(namespace: dict[str, Any]) -> None:
    """Puts natif.native where code of code_of() looks for it: now, and later when a function that defines functions is called."""
    from natif.native import native

    namespace[DECORATOR] = native


def code_of(source: Any, file: str, module_name: str, *, optimize: int = -1) -> CodeType:
    """The code of a source whose typed undecorated functions are decorated with the name of provide_decorator()."""
    tree = ast.parse(source, file)
    decorate(tree, file, module_name)
    code = compile(tree, file, "exec", dont_inherit=True, optimize=optimize)
    assert isinstance(code, CodeType)
    return code


def decorate(tree: ast.Module, file: str, module_name: str) -> None:
    """Puts the decorator on every function that has a marker among its annotations and no decorator."""
    try:
        from natif._compiler import claim_module
    except ImportError:
        return  # without the compiler nothing could become native; natif.native says so where it is used
    typed = {(claim["line"], claim["column"]) for claim in claim_module(tree, file, module_name) if claim["marked"]}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and not node.decorator_list and (node.lineno, node.col_offset) in typed:
            place = {name: getattr(node, name) for name in ("lineno", "col_offset")}
            node.decorator_list.append(ast.Name(DECORATOR, ast.Load(), **place, end_lineno=node.lineno, end_col_offset=node.col_offset))
