"""What a workload and a contender have to say to each other: a case (one function on one set of tensors), the vocabulary in which its
function is also expressed without a framework, and the exception by which a contender declines a case with its reason.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Call = Callable[[], Any]


class Ops(Protocol):
    """The operations of the workloads; each contender that takes no TensorFlow function supplies its own. Tensors are float32.

    matmul takes [M, K] and [K, N]; bias_add adds [N] to every row of [M, N]; softmax and argmax work along the last axis, argmax gives the
    first of equal maxima; add, subtract, multiply and divide broadcast.
    """

    def add(self, a: Any, b: Any) -> Any: ...
    def subtract(self, a: Any, b: Any) -> Any: ...
    def multiply(self, a: Any, b: Any) -> Any: ...
    def divide(self, a: Any, b: Any) -> Any: ...
    def matmul(self, a: Any, b: Any) -> Any: ...
    def bias_add(self, a: Any, b: Any) -> Any: ...
    def relu(self, a: Any) -> Any: ...
    def tanh(self, a: Any) -> Any: ...
    def sigmoid(self, a: Any) -> Any: ...
    def softmax(self, a: Any) -> Any: ...
    def argmax(self, a: Any) -> Any: ...


# Takes the vocabulary and the tensors by name; gives the witness and the result (the same where the result is its own witness).
Expression = Callable[[Ops, Mapping[str, Any]], tuple[Any, Any]]


@dataclass(frozen=True)
class Case:
    """One function on one set of tensors.

    `function` names the typed TensorFlow function of bench.programs.WORKLOAD that is timed, `witness` one over the same arguments that
    returns the floats behind a result that alone would show too little (probabilities behind classes). `tensors` and `scalars` are the
    arguments in the function's order.
    `data` names the tensors that change from call to call; the others are weights, which some contenders hold and the rest are passed.
    `only` names the contenders that the case is meant for; empty means all.
    """

    workload: str
    name: str
    title: str
    function: str
    express: Expression
    tensors: Mapping[str, Array]
    data: tuple[str, ...]
    scalars: Mapping[str, Any] = field(default_factory=dict)
    witness: str | None = None
    only: tuple[str, ...] = ()

    @property
    def weights(self) -> dict[str, Array]:
        return {name: array for name, array in self.tensors.items() if name not in self.data}

    def target(self, witness: bool) -> Callable[..., Any]:
        """The typed function to prepare: the timed one, or the witness. Imports its module, and TensorFlow with it."""
        import_module("bench.availability")
        name = self.witness if witness and self.witness is not None else self.function
        function: Callable[..., Any] = getattr(import_module(f"bench.programs.{self.workload}"), name)
        return function

    def expression(self, witness: bool) -> Callable[[Ops, Mapping[str, Any]], Any]:
        """The same function in the vocabulary."""
        return lambda ops, tensors: self.express(ops, tensors)[0 if witness else 1]


class NotAvailable(Exception):
    """A contender can't take part, in the run or in a case; its text is the reason, shown in the results."""


class Contender(ABC):
    """One way of running a workload. `exact` claims eager's very bits; `bound` says that the weights are held rather than passed."""

    name: str
    label: str
    exact: bool = False
    bound: bool = False

    def __init__(self, threads: int) -> None:
        """`threads` is the number of threads the contender may use; 0 leaves it its own default."""
        self.threads = threads

    @abstractmethod
    def require(self) -> None:
        """Loads what the contender needs; raises NotAvailable with the reason where that fails."""

    @abstractmethod
    def prepare(self, case: Case, witness: bool = False) -> Call:
        """A call without arguments that runs the case once and returns when its result is there; NotAvailable where that can't be done."""

    def value(self, result: Any) -> Array:
        """A call's result as a NumPy array."""
        return np.asarray(result)


def random_of(name: str) -> np.random.Generator:
    """The random numbers of one workload: the same in every process and for every contender."""
    return np.random.default_rng(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little"))


def normal(rng: np.random.Generator, *shape: int, scale: float = 1.0) -> Array:
    """float32 standard normal numbers times `scale`."""
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def spread(rng: np.random.Generator, *shape: int) -> Array:
    """float32 numbers in [0.5, 1.5): divisors and gains that neither vanish nor repeat."""
    return (rng.random(shape) + 0.5).astype(np.float32)


def dense(rng: np.random.Generator, inputs: int, outputs: int) -> tuple[Array, Array]:
    """The weights [inputs, outputs] and bias [outputs] of a dense layer whose outputs keep its inputs' scale."""
    return normal(rng, inputs, outputs, scale=(2.0 / inputs) ** 0.5), normal(rng, outputs, scale=0.1)
