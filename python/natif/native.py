"""natif.native and natif.compile: from a Python function to one that runs natively, or to itself where it stays Python.

Decorating claims the function, which takes milliseconds and imports neither TensorFlow nor the user's module; the C++ is built at the first
call, for all functions of the file at once. natif.compile builds immediately.
"""

from collections.abc import Callable
from typing import Any, TypeVar, overload

from natif import policy
from natif.errors import CompileError
from natif.options import Options

F = TypeVar("F", bound=Callable[..., Any])


@overload
def native(function: F, /) -> F: ...


@overload
def native(
    *,
    lane: str = ...,
    numerics: str = ...,
    on_mismatch: str = ...,
    require: bool = ...,
    target: str = ...,
    specialize: bool = ...,
) -> Callable[[F], F]: ...


def native(function: Any = None, /, **options: Any) -> Any:
    """Makes a typed function native; a decorator, with or without arguments.

    lane: "auto" takes natif's kernels wherever they apply and TensorFlow's ops for the rest, "tfe" TensorFlow's ops only, "fused" natif's
        kernels only (CompileError where an op has none).
    numerics: "exact" gives eager's very bits, "fast" may differ within the bounds of docs/numerics.md.
    on_mismatch: an argument of another dtype, rank, device or size raises ("raise"), or such a call runs the Python body ("fallback").
    require: CompileError where the function can't be native, instead of staying Python.
    target: the processor to build for: "native", "x86-64-v2", "x86-64-v3", "x86-64-v4".
    specialize: bind() builds code for the sizes of the bound tensors, in a second, where there is a compiler; see docs/bind.md.

    A function that stays Python is returned itself. Either way the result has is_native, python, report, source(kind), calls and bind().
    Where the code can't be built (no compiler, say), a RuntimeWarning tells why and natif interprets the function, op by op, with eager's
    bits; with require, or under NATIF_MODE=native, that is a CompileError.
    """
    chosen = Options.checked(**options)
    if function is None:
        return lambda decorated: made(decorated, chosen)
    return made(function, chosen)


def compile(function: Any, **options: Any) -> Any:  # noqa: A001
    """As natif.native, for a function that need not be decorated, and built at once. Takes the options of natif.native."""
    original = getattr(function, "python", function)
    return made(original, Options.checked(**options), now=True)


def made(function: Any, options: Options, *, now: bool = False) -> Any:
    """The native function, or the function itself where it stays Python; CompileError where the options can't be met.

    A function of a package that natif build made is native through what was shipped with it, without the compiler. Static and class methods
    may be decorated before or after they become such. TypeError for what can't be called.
    """
    from natif import shipped

    if isinstance(function, staticmethod | classmethod):
        return type(function)(made(function.__func__, options, now=now))
    if not callable(function):
        raise TypeError(f"natif: expected a function, got {type(function).__name__}")

    built = None if now else shipped.made(function, options)
    if built is not None:
        return built
    return _compiled(function, options, now)


def _compiled(function: Any, options: Options, now: bool) -> Any:
    from natif.report import Report, function_report, reason_of, unreadable
    from natif.source import SourceError, reason_without_source, source_of

    name, file, line = _place(function)
    try:
        reason = reason_without_source(function)
        if reason:
            raise SourceError(reason)
        source = source_of(function)
        claim = source.claim_of(function)
    except SourceError as error:
        return _python(function, unreadable(name, file, line, str(error)), options, str(error))
    except ImportError as error:
        return _unavailable(function, unreadable(name, file, line, f"natif's compiler can't be loaded: {error}"), options, error)
    report = Report((function_report(claim, file),))
    if not claim["native"]:
        return _python(function, report, options, reason_of(report.functions[0]))
    if policy.mode() == "python":
        return _python(function, report, options, "")
    return _native(function, source, claim, report, options, now)


def _native(function: Any, source: Any, claim: Any, report: Any, options: Options, now: bool) -> Any:
    from natif.program import program_of

    program = program_of(source, function.__globals__)
    name = program.add(claim, options)
    if options.lane == "fused" or options.numerics == "fast":
        try:
            program.plan(name)  # an option that can't be met is said where it stands
        except CompileError:
            program.withdraw(name)
            raise
    try:
        if now:
            program.artifact(name)
        return program.function(function, name, options)
    except (CompileError, ImportError, OSError, RuntimeError) as error:
        if options.require or policy.mode() == "native":
            raise
        return _unavailable(function, report, options, error)


def _python(function: Any, report: Any, options: Options, reason: str) -> Any:
    from natif.python_function import stay_python

    if options.require and reason:
        raise CompileError(f"natif: {_place(function)[0]} can't be native: {reason}")
    return stay_python(function, report)


def _unavailable(function: Any, report: Any, options: Options, error: Exception) -> Any:
    """The function itself, where natif could make it native but something that natif needs is missing."""
    from natif.python_function import stay_python
    from natif.report import failed

    name = _place(function)[0]
    if options.require or policy.mode() == "native":
        raise CompileError(str(error) if str(error).startswith("natif: ") else f"natif: {name}: {error}") from error
    policy.warn_unavailable(name, error)
    return stay_python(function, failed(report, str(error)))


def _place(function: Any) -> tuple[str, str, int]:
    code = getattr(function, "__code__", None)
    name = getattr(function, "__qualname__", None) or getattr(type(function), "__qualname__", "?")
    return str(name), str(getattr(code, "co_filename", "")), int(getattr(code, "co_firstlineno", 0))
