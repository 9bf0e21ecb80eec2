"""A source file, read once: its text, its syntax tree and the claims on its functions, for whichever function of it is asked about.

What a running function was made from is what counts: the code that the tree compiles to is compared with the function's own, so a file that
changed since it was imported, or that something rewrote, is never taken for the function's source.
"""

import os
import threading
from collections.abc import Callable
from typing import Any

Claim = dict[str, Any]


class SourceError(Exception):
    """Why a function's source can't be used, as half a sentence."""


class Source:
    """One file, notebook cell or other text that Python can show the source of."""

    def __init__(self, file: str, module_name: str, text: str, earlier: tuple[str, ...] = ()):
        """SourceError where the text does not parse. `earlier` are the cells that ran before a notebook's cell, whose names it may use."""
        import ast

        self.file = file
        self.module_name = module_name
        self.text = text
        self.earlier = earlier
        try:
            own = _undisturbed(lambda: ast.parse(text, file))
        except (SyntaxError, ValueError) as error:
            raise SourceError(f"its source does not parse: {error}") from None
        self._own = own
        self.tree = ast.Module(body=[*_bindings(earlier, own), *own.body], type_ignores=[]) if earlier else own
        self._codes: dict[int, dict[tuple[str, int], Any]] = {}
        self.claims: list[Claim] = _compiler().claim_module(self.tree, file, module_name)

    def claim_of(self, function: Any) -> Claim:
        """The claim on a running function. SourceError where this source is not what the function was made from."""
        code = function.__code__
        key = (code.co_qualname, code.co_firstlineno)
        claim = next((claim for claim in reversed(self.claims) if (claim["name"], claim["first_line"]) == key), None)
        if claim is None or self._code(key, code.co_flags) != code:
            raise SourceError("its source is not what it was made from: the file has changed, or something rewrote it")
        return claim

    def _code(self, key: tuple[str, int], flags: int) -> Any:
        import __future__

        future = flags & sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
        if future not in self._codes:
            whole = _undisturbed(lambda: compile(self._own, self.file, "exec", flags=future, dont_inherit=True))
            self._codes[future] = dict(_codes_in(whole))
        return self._codes[future].get(key)


def _undisturbed(convert: Callable[[], Any]) -> Any:
    """A conversion to or from a syntax tree, tried again where another thread's at the same time has made it fail: before 3.11.8, CPython
    counts their depth in one place for all threads (https://github.com/python/cpython/issues/106905).
    """
    for _ in range(20):
        try:
            return convert()
        except SystemError as error:
            if "recursion depth mismatch" not in str(error):
                raise
    return convert()


def _compiler() -> Any:
    from natif import _compiler

    return _compiler


def _codes_in(code: Any) -> Any:
    for constant in code.co_consts:
        if hasattr(constant, "co_qualname"):
            yield (constant.co_qualname, constant.co_firstlineno), constant
            yield from _codes_in(constant)


_sources: dict[str, Source] = {}
_lock = threading.Lock()


def source_of(function: Any) -> Source:
    """The source that a function was made from, read and claimed once for each file. SourceError where there is none."""
    import linecache

    file = function.__code__.co_filename
    linecache.checkcache(file)
    lines = linecache.getlines(file, function.__globals__)
    if not lines:
        raise SourceError(f"its source can't be read: Python finds no text for {file}")
    text = "".join(lines)
    earlier = _earlier_cells(file, function.__globals__, text)
    with _lock:
        source = _sources.get(file)
        if source is None or source.text != text or source.earlier != earlier or source.module_name != function.__module__:
            source = _sources[file] = Source(file, str(function.__module__), text, earlier)
        return source


def _earlier_cells(file: str, namespace: dict[str, Any], text: str) -> tuple[str, ...]:
    """The cells of an IPython session before the one with this text; () where the text is a file's."""
    cells = namespace.get("In")
    if not isinstance(cells, list) or "get_ipython" not in namespace or os.path.exists(file):  # noqa: PTH110
        return ()
    own = [index for index, cell in enumerate(cells) if cell.strip() == text.strip()]
    return tuple(cells[: own[-1]] if own else cells)


def _bindings(cells: tuple[str, ...], own: Any) -> list[Any]:
    """What earlier cells bind and nothing later binds again: a cell that was run twice, or a function defined anew, counts once."""
    import ast

    statements: dict[Any, Any] = {}
    for cell in cells:
        try:
            body = _undisturbed(lambda: ast.parse(cell)).body  # noqa: B023
        except (SyntaxError, ValueError):
            continue
        for statement in body:
            names = _names_of(statement)
            if names is None:
                continue
            statements.pop(names, None)
            statements[names] = statement
    again = {names for statement in own.body if (names := _names_of(statement)) is not None}
    return [statement for names, statement in statements.items() if names not in again]


def _names_of(statement: Any) -> tuple[str, ...] | None:
    import ast

    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return (statement.name,)
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return tuple(alias.asname or alias.name for alias in statement.names)
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return (statement.target.id,)
    if isinstance(statement, ast.Assign) and all(isinstance(target, ast.Name) for target in statement.targets):
        return tuple(target.id for target in statement.targets if isinstance(target, ast.Name))
    return None


def reason_without_source(function: Any) -> str:
    """Why natif does not look for the source of this object at all; "" where it does."""
    if type(function).__name__ != "function" or not hasattr(function, "__code__"):
        return f"it is no plain function but {type(function).__name__}: put natif.native below the other decorators"
    return ""
