"""A function that stays Python: itself, carrying what every function of natif has."""

import contextlib
from typing import Any

from natif.errors import CompileError


def stay_python(function: Any, report: Any) -> Any:
    """The function itself, with is_native (False), python, report, source(kind), calls and bind(). Others are left as they are."""

    def source(kind: str = "ir") -> str:
        raise CompileError(
            f"natif: {function.__qualname__} stays Python and has no {kind!r} text: {report.reason or 'NATIF_MODE is python'}"
        )

    def bind(**tensors: Any) -> Any:
        return _bound(function, report, tensors)

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


def _bound(function: Any, report: Any, tensors: dict[str, Any]) -> Any:
    import functools
    import inspect

    signature = inspect.signature(function)
    unknown = [name for name in tensors if name not in signature.parameters]
    if unknown:
        raise TypeError(f"natif: {function.__qualname__}() has no parameter {unknown[0]!r} to bind")
    positional_only = [name for name in tensors if signature.parameters[name].kind is inspect.Parameter.POSITIONAL_ONLY]
    if positional_only:
        raise TypeError(f"natif: the positional-only parameter {positional_only[0]!r} of {function.__qualname__}() can't be bound")
    left = [parameter for name, parameter in signature.parameters.items() if name not in tensors]

    @functools.wraps(function)
    def bound(*args: Any, **kwargs: Any) -> Any:
        given = signature.replace(parameters=left).bind(*args, **kwargs)
        return function(**tensors, **given.arguments) if not given.args else _call(function, signature, tensors, given)

    bound.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
    return stay_python(bound, report)


def _call(function: Any, signature: Any, tensors: dict[str, Any], given: Any) -> Any:
    whole = signature.bind_partial()
    whole.arguments.update(tensors)
    whole.arguments.update(given.arguments)
    whole.apply_defaults()
    return function(*whole.args, **whole.kwargs)
