"""Measuring one function: eager against each lane, in turn, with nothing timed before its answer is right.

Each contender makes its calls in rounds, one contender after the other in every round: what slows the machine down slows all of them.
"""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from natif.errors import CompileError

LANES = ("auto", "fused", "tfe")
ROUNDS = 25
"""Of every contender; each round lasts at least ROUND_TIME."""

ROUND_TIME = 0.002
"""Seconds."""

DEFAULT_SIZE = 32
"""Of an axis whose size nothing says."""


@dataclass(frozen=True)
class Timing:
    """One contender: the quartiles of a call in microseconds, or why it does not take part."""

    name: str
    median: float = 0.0
    low: float = 0.0
    high: float = 0.0
    refusal: str = ""


def measure(
    function: Any, shapes: Mapping[str, Sequence[int]], values: Mapping[str, float], numerics: str = "exact"
) -> tuple[str, list[Timing]]:
    """Times the function; returns its inputs as text and the timings, eager's first.

    `shapes` are those of tensor arguments by parameter, `values` those of scalar ones. Axes that have to agree take the size that one of
    them has; the others are 32. CompileError where the function is not native, or where an answer is not eager's.
    """
    import natif

    python = getattr(function, "python", function)
    native = natif.compile(python, numerics=numerics)
    if not native.is_native:
        raise CompileError(f"natif: {python.__qualname__} stays Python: {native.report.reason}; see natif check")
    arguments = make_inputs(native.source("ir"), shapes, values, python.__globals__)
    expected = python(**arguments)
    contenders: dict[str, Callable[[], Any]] = {"eager": lambda: python(**arguments)}
    refused: dict[str, str] = {}
    for lane in LANES:
        try:
            compiled = natif.compile(python, lane=lane, numerics=numerics, require=True)
        except CompileError as error:
            refused[lane] = str(error).removeprefix("natif: ")
            continue
        _verify(compiled, lane, arguments, expected, numerics)
        contenders[lane] = _caller(compiled, arguments)
    timings = _rounds(contenders)
    timings += [Timing(lane, refusal=reason) for lane, reason in refused.items()]
    return _shown(arguments), timings


def make_inputs(ir: str, shapes: Mapping[str, Sequence[int]], values: Mapping[str, float], namespace: dict[str, Any]) -> dict[str, Any]:
    """The arguments by name, of random values. CompileError where a shape or a value doesn't fit the function."""
    from natif.packaging.inputs import parameters
    from natif.selftest import make_arguments

    found = parameters(ir)
    by_name = {parameter["name"]: parameter for parameter in found if not parameter["hidden"]}
    sizes: dict[str, int] = {}
    for name, shape in shapes.items():
        parameter = by_name.get(name)
        if parameter is None or parameter["kind"] != "tensor":
            raise CompileError(f"natif: there is no tensor parameter {name}; there are {', '.join(by_name)}")
        if len(shape) != len(parameter["sizes"]):
            raise CompileError(
                f"natif: {name} has rank {len(parameter['sizes'])}, the shape {'x'.join(map(str, shape))} has {len(shape)} sizes"
            )
        for size, given in zip(parameter["sizes"], shape, strict=True):
            fixed = size if isinstance(size, int) else sizes.setdefault(size, given)
            if fixed != given:
                raise CompileError(f"natif: an axis of {name} has to be {fixed}, not {given}; correct --shape")
    case = {"size": DEFAULT_SIZE, "seed": 1, "special": False, "sizes": sizes}
    arguments = make_arguments(found, case, namespace)
    for name, value in values.items():
        parameter = by_name.get(name)
        if parameter is None or parameter["kind"] == "tensor":
            raise CompileError(f"natif: there is no scalar parameter {name}; there are {', '.join(by_name)}")
        arguments[name] = {"int": int, "float": float, "bool": bool}[parameter["kind"]](value)
    return arguments


def _caller(function: Any, arguments: dict[str, Any]) -> Callable[[], Any]:
    return lambda: function(**arguments)


def _verify(function: Any, lane: str, arguments: dict[str, Any], expected: Any, numerics: str) -> None:
    from natif.selftest import agree

    before = function.calls["native"]
    got = function(**arguments)
    if function.calls["native"] == before:
        raise CompileError(f"natif: lane {lane} ran the call in Python ({function.calls['python']}); NATIF_LOG=1 says why")
    results = [("value", each if isinstance(each, tuple) else (each,)) for each in (got, expected)]
    if not agree(results[0], results[1], numerics):
        raise CompileError(f"natif: lane {lane} does not give eager's result, so nothing was timed; please report it")


def _rounds(contenders: Mapping[str, Callable[[], Any]]) -> list[Timing]:
    counts = {name: _calls_per_round(call) for name, call in contenders.items()}
    samples: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(ROUNDS):
        for name, call in contenders.items():
            count = counts[name]
            begin = time.perf_counter()
            for _ in range(count):
                call()
            samples[name].append((time.perf_counter() - begin) / count * 1e6)
    timings = []
    for name, times in samples.items():
        low, median, high = statistics.quantiles(times, n=4)
        timings.append(Timing(name, median, low, high))
    return timings


def _calls_per_round(call: Callable[[], Any]) -> int:
    """So many that a round lasts long enough; the calls that find it out warm the contender up."""
    count = 1
    while True:
        begin = time.perf_counter()
        for _ in range(count):
            call()
        if time.perf_counter() - begin >= ROUND_TIME:
            return count
        count *= 2


def _shown(arguments: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name}={value.dtype.name}[{','.join(map(str, value.shape))}]" if hasattr(value, "dtype") else f"{name}={value}"
        for name, value in arguments.items()
    )
