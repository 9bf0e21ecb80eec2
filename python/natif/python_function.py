"""A function that stays Python: itself, carrying what every function of natif has."""

import contextlib
from collections.abc import Mapping
from typing import Any

from natif.binding import Origin, captured
from natif.errors import CompileError


def stay_python(function: Any, report: Any) -> Any:
    """The function itself, with is_native (False), python, report, source(kind), calls and bind(). Others are left as they are."""

    def source(kind: str = "ir") -> str:
        raise _no_text(function, report, kind)

    def bind(**values: Any) -> Any:
        return BoundPython(function, report, captured(function, {}, values))

    carried = {
        "is_native": False,
        "report": report,
        "source": source,
        "calls": {"native": 0, "python": {}},
        "bind": bind,
        "python": function,
    }
    with contextlib.suppress(AttributeError, TypeError):
        for name, value in carried.items():
            setattr(function, name, value)
    return function


class BoundPython:
    """What bind() makes of a function that stays Python: it, with these values always passed. Pickles as a native one does."""

    is_native = False

    def __init__(self, function: Any, report: Any, bound: Mapping[str, Any]):
        import functools
        import inspect

        functools.update_wrapper(self, function, updated=())
        self.python = function
        self.report = report
        self.calls: dict[str, Any] = {"native": 0, "python": {}}
        self._bound = dict(bound)
        self._whole = inspect.signature(function)
        left = [parameter for name, parameter in self._whole.parameters.items() if name not in bound]
        self.__signature__ = self._whole.replace(parameters=left)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function with the bound values and these."""
        given = self.__signature__.bind(*args, **kwargs)
        whole = self._whole.bind_partial()
        whole.arguments.update({**given.arguments, **self._bound})
        whole.apply_defaults()
        return self.python(*whole.args, **whole.kwargs)

    def source(self, kind: str = "ir") -> str:
        """CompileError: there is no text."""
        raise _no_text(self.python, self.report, kind)

    def bind(self, **values: Any) -> "BoundPython":
        """The function with these values bound as well."""
        return BoundPython(self.python, self.report, {**self._bound, **captured(self.python, self._bound, values)})

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebound, (Origin(self.python), self._bound)


def _rebound(origin: Any, bound: dict[str, Any]) -> Any:
    return origin.bind(**bound)


def _no_text(function: Any, report: Any, kind: str) -> CompileError:
    return CompileError(f"natif: {function.__qualname__} stays Python and has no {kind!r} text: {report.reason or 'NATIF_MODE is python'}")
