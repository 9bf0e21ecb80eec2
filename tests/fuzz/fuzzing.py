"""One round of fuzzing: a source of functions, the lanes to run them in, and the report of the first difference."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf
from fuzz_generator import HEAD, Function
from fuzz_lanes import Difference, Module, calls, equal, outcome, program
from fuzz_shrink import smaller

_numbers = itertools.count()


@dataclass
class Totals:
    """What rounds have covered."""

    functions: int = 0
    calls: dict[str, int] = field(default_factory=dict)
    native: dict[str, int] = field(default_factory=dict)
    errors: int = 0


class Failure(AssertionError):
    """A program that some lane runs otherwise than eager, or that the compiler refuses; as small as it could be made."""


def load(source: str) -> Module:
    return Module(f"fuzz_{next(_numbers)}", source)


def run_round(seed: int, count: int, lanes: Iterable[str], totals: Totals, calls_each: int = 3) -> None:
    """Generates `count` functions and compares every lane with eager. Failure where one differs."""
    source, functions = program(seed, count)
    module = load(source)
    for function in functions:
        if reason := module.refusal(function.name):
            raise Failure(described(seed, refused_alone(source, function.name, reason), f"the compiler refuses {function.name}: {reason}"))
    native = {lane: module.lane(lane, [function.name for function in functions]) for lane in lanes}
    compare_all(seed, source, functions, module, native, totals, calls_each)


def compare_all(
    seed: int,
    source: str,
    functions: list[Function],
    module: Module,
    native: dict[str, dict[str, Callable[..., Any]]],
    totals: Totals,
    calls_each: int,
) -> None:
    """Calls every function in every lane. Failure, with a small program, where a lane differs from eager."""
    rng = random.Random(seed + 1)
    for function in functions:
        body = module.namespace[function.name]
        for arguments in calls(function, rng, calls_each):
            expected = outcome(body, arguments)
            totals.errors += isinstance(expected, type)
            for lane, forms in native.items():
                got = outcome(forms[function.name], arguments)
                totals.calls[lane] = totals.calls.get(lane, 0) + 1
                if not equal(expected, got, arguments):
                    raise Failure(reported(seed, source, Difference(function.name, lane, arguments, expected, got)))
    for lane, forms in native.items():
        totals.native[lane] = totals.native.get(lane, 0) + sum(form.calls["native"] for form in forms.values())  # type: ignore[attr-defined]
    totals.functions += len(functions)


def refused_alone(source: str, function: str, reason: str) -> str:
    """The smallest source found in which the function is refused for this reason."""
    after_line = reason.partition(": ")[2]
    return smaller(source, function, lambda text: load(text).refusal(function).partition(": ")[2] == after_line, seconds=15)


def reported(seed: int, source: str, difference: Difference) -> str:
    """The report of a difference, with the smallest program that was found."""
    both = [difference.expected, difference.got]

    def fails(text: str) -> bool:
        try:
            module = load(text)
            if module.refusal(difference.function):
                return False
            native = module.lane(difference.lane, [difference.function])[difference.function]
        except Exception:
            return False
        theirs, mine = outcome(module.namespace[difference.function], difference.arguments), outcome(native, difference.arguments)
        if equal(theirs, mine, difference.arguments) or isinstance(theirs, type) != isinstance(difference.expected, type):
            return False
        both[:] = [theirs, mine]
        return True

    source = smaller(source, difference.function, fails, seconds=15 if difference.lane in ("graph", "passes") else 90)
    lines = [f"lane {difference.lane}: {difference.function}{shown_call(difference.arguments)}", *shown_values(*both)]
    return described(seed, source, "\n".join(lines))


def described(seed: int, source: str, text: str) -> str:
    return f"seed {seed}\n{text}\n\n{source.removeprefix(HEAD)}"


def shown_call(arguments: list[Any]) -> str:
    return "(" + ", ".join(shown(argument) for argument in arguments) + ")"


def shown(value: Any) -> str:
    if not tf.is_tensor(value):
        return repr(value)
    array = value.numpy()
    return (
        f"<{array.dtype}{list(array.shape)}>"
        if array.size > 64
        else f"tf.constant({array.tolist()}, tf.{array.dtype}, {list(array.shape)})"
    )


def shown_values(expected: Any, got: Any) -> list[str]:
    """Both outcomes, or the elements that differ where only those do."""
    lines = []
    if isinstance(expected, tuple) and isinstance(got, tuple) and len(expected) == len(got):
        for index, (theirs, mine) in enumerate(zip(expected, got, strict=True)):
            if tf.is_tensor(theirs) and tf.is_tensor(mine) and theirs.shape == mine.shape and theirs.dtype == mine.dtype == tf.float32:
                different = np.argwhere(theirs.numpy().reshape(-1).view(np.int32) != mine.numpy().reshape(-1).view(np.int32)).reshape(-1)
                for place in different[:4]:
                    a, b = (each.numpy().reshape(-1)[place] for each in (theirs, mine))
                    bits = f"{a.view(np.uint32):08x}, {b.view(np.uint32):08x}"
                    lines.append(f"result {index} {list(theirs.shape)}, element {place}: eager {a!r}, natif {b!r} ({bits})")
    return lines or [f"eager {expected!r}", f"natif {got!r}"]
