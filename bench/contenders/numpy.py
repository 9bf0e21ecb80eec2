"""NumPy, the weights passed: what plain Python array code costs."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from bench.case import Call, Case, Contender


class NumpyOps:
    add = staticmethod(np.add)
    subtract = staticmethod(np.subtract)
    multiply = staticmethod(np.multiply)
    divide = staticmethod(np.divide)
    matmul = staticmethod(np.matmul)
    bias_add = staticmethod(np.add)
    tanh = staticmethod(np.tanh)

    def relu(self, a: Any) -> Any:
        return np.maximum(a, np.float32(0))

    def sigmoid(self, a: Any) -> Any:
        return np.float32(1) / (np.float32(1) + np.exp(-a))

    def softmax(self, a: Any) -> Any:
        e = np.exp(a - a.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)

    def argmax(self, a: Any) -> Any:
        return np.argmax(a, axis=-1)


class Entrant(Contender):
    name = "numpy"
    label = "NumPy"

    def require(self) -> None:
        """NumPy is there wherever the suite is."""

    def prepare(self, case: Case, witness: bool = False) -> Call:
        return partial(case.expression(witness), NumpyOps(), case.tensors)
