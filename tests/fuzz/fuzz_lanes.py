"""Runs generated functions in every lane and compares: eager's bits, eager's class of error, and the same object where eager gives it."""

from __future__ import annotations

import ast
import linecache
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import fuzz_generator
import numpy as np
import tensorflow as tf
from evaluating import evaluated
from fuzz_generator import Function
from tensorflow.python import pywrap_tfe

import natif
from natif import _compiler

PASSES = ("fold_numbers", "common_subexpressions", "dead_code", "fuse")
LANES = ("graph", "passes", "tfe", "auto")
SIZES = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 16, 17, 20, 23, 31, 32, 33, 40]
SPECIAL = np.array([0.0, -0.0, 1e-40, -1e-40, np.inf, -np.inf, np.nan, 3.4e38, -3.4e38, 1.0, 88.8, -87.4, 1e-7], np.float32)


@dataclass
class Difference:
    """A function that is not eager's in some lane, with the call that shows it."""

    function: str
    lane: str
    arguments: list[Any]
    expected: Any
    got: Any


class Module:
    """The functions of one source: their Python bodies, and their native forms by lane."""

    def __init__(self, name: str, source: str) -> None:
        self.name, self.source, self.file = name, source, f"<{name}>"
        linecache.cache[self.file] = (len(source), None, source.splitlines(keepends=True), self.file)
        self.namespace: dict[str, Any] = {"__name__": name}
        exec(compile(source, self.file, "exec"), self.namespace)
        found = _compiler.claim_module(ast.parse(source), self.file, name)
        self.claims = {claim["name"]: claim for claim in found}

    def refusal(self, name: str) -> str:
        """Why a function is not native; empty where it is."""
        claim = self.claims[name]
        sites = [site for site in claim["sites"] if site["outcome"] != "Claimed"]
        return "" if claim["native"] else "; ".join(f"line {site['line']}: {site['code']} {site['message']}" for site in sites)

    def lane(self, lane: str, names: Iterable[str]) -> dict[str, Callable[..., Any]]:
        """The functions in one lane: the graph interpreted before or after the passes, or compiled."""
        names = list(names)
        bodies = {name: self.namespace[name] for name in names}
        if lane in ("tfe", "auto"):
            return {name: natif.native(lane=lane, require=True)(body) for name, body in bodies.items()}
        texts = [self.claims[name]["ir"] for name in names]
        if lane == "passes":
            texts = [passed(text) for text in texts]
        return evaluated(texts, bodies, module=self.name, file=self.file)

    def build(self, functions: dict[str, Callable[..., Any]]) -> None:
        """Compiles all functions of this source, which the first call of one would do."""
        first: Any = next(iter(functions.values()))
        first.provider.artifact(first.options["name"])


def passed(text: str) -> str:
    """The graph after all passes, as lane="fused" has them."""
    for name in PASSES:
        text = _compiler.run_pass(name, text)
    return text


def program(seed: int, count: int) -> tuple[str, list[Function]]:
    """A source with `count` functions, and what is known of them."""
    rng = random.Random(seed)
    source, functions = fuzz_generator.HEAD, []
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    while len(functions) < count:
        others = [other for other in functions[-4:] if other.inlined]
        function = fuzz_generator.generate(rng, f"f{len(functions)}", others, namespace)
        exec(function.text, namespace)
        functions.append(function)
        source += function.text + "\n\n"
    return source, functions


def calls(function: Function, rng: random.Random, count: int) -> Iterator[list[Any]]:
    """Arguments: the sizes differ from call to call, the last one's may not fit, and some elements are special values."""
    for number in range(count):
        sizes = {letter: rng.choice(SIZES) for letter in "rck"} | {letter: rng.choice([1, 2, 3, 5]) for letter in "pq"}
        sizes |= function.fixed | {"1": 1}
        torn = number == count - 1 and function.safe and rng.random() < 0.3
        values = np.random.default_rng(rng.randrange(2**32))
        special = rng.choice([0.0, 0.0, 0.0, 0.05, 0.4])
        arguments: list[Any] = []
        for parameter in function.parameters:
            if parameter.kind == "tensor":
                shape = [rng.choice([1, 2, 3]) if torn and rng.random() < 0.3 else sizes[letter] for letter in parameter.shape]
                plain = (values.standard_normal(shape) * rng.choice([1, 1, 3])).astype(np.float32)
                arguments.append(tf.constant(np.where(values.random(shape) < special, values.choice(SPECIAL, shape), plain)))
            elif parameter.default and rng.random() < 0.2:
                break
            else:
                numbers = {"int": [0, 1, 2, 3, 5, 8, -1, -3], "float": [0.5, -1.5, 2.0, 0.1, 1e-3, 7.25], "bool": [True, False]}
                arguments.append(rng.choice(numbers[parameter.kind]))
        yield arguments


def outcome(function: Callable[..., Any], arguments: list[Any]) -> Any:
    """The results, or the class of the error. Eager keeps tensors of numbers by equality, so that what it did before could matter."""
    pywrap_tfe.TFE_ClearScalarCache()
    try:
        results = function(*arguments)
    except RuntimeError as error:
        return str(error) if str(error).startswith("natif: ") else type(error)
    except Exception as error:
        return type(error)
    return results if isinstance(results, tuple) else (results,)


def equal(one: Any, other: Any, arguments: list[Any]) -> bool:
    """Whether two outcomes are the same, where one NaN is as good as another."""
    if not isinstance(one, tuple) or not isinstance(other, tuple):
        return one is other
    return len(one) == len(other) and all(same_value(mine, theirs, arguments) for mine, theirs in zip(one, other, strict=True))


def same_value(one: Any, other: Any, arguments: list[Any]) -> bool:
    if not tf.is_tensor(one) or not tf.is_tensor(other):
        return type(one) is type(other) and repr(one) == repr(other)
    if any((one is argument) != (other is argument) for argument in arguments):
        return False
    mine, theirs = one.numpy(), other.numpy()
    if mine.shape != theirs.shape or mine.dtype != theirs.dtype:
        return False
    nan = np.isnan(theirs)
    return bool((np.isnan(mine) == nan).all()) and mine[~nan].tobytes() == theirs[~nan].tobytes()
