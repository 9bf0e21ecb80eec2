"""What a program can observe of a call: the value to the bit, or the error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf


def observed(call: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """A call's value with dtypes, shapes, devices and bits; or its error's class, op and message."""
    try:
        return described(call(*arguments, **keywords))
    except Exception as error:
        op = getattr(error, "op", None)
        return ("error", type(error).__name__, None if op is None else op.name, str(error))


def same(function: Any, *arguments: Any, **keywords: Any) -> Any:
    """Asserts that a native function's call gives what its body gives; returns it."""
    mine = observed(function, *arguments, **keywords)
    assert mine == observed(function.python, *arguments, **keywords)
    return mine


def described(value: Any) -> Any:
    """The value as plain data that compares bit for bit."""
    if isinstance(value, tuple | list):
        return type(value).__name__, [described(item) for item in value]
    if isinstance(value, tf.IndexedSlices):
        return described(tf.convert_to_tensor(value))
    if isinstance(value, tf.RaggedTensor | tf.SparseTensor):
        components = tf.nest.flatten(value, expand_composites=True)
        return type(value).__name__, [described(component) for component in components]
    if tf.is_tensor(value) and hasattr(value, "numpy"):
        return "tensor", value.dtype.name, tuple(value.shape), value.device, bits(value.numpy())
    if isinstance(value, np.ndarray | np.generic):
        return "array", value.dtype.name, value.shape, bits(value)
    if isinstance(value, float):
        return "float", value.hex()
    return type(value).__name__, repr(value)


def bits(array: Any) -> bytes:
    """The elements as bytes; NaNs of every payload are one."""
    array = np.asarray(array)
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    return np.ascontiguousarray(array).tobytes()


class Watch:
    """Counts what the calls of a native function did from here on."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.before = function.calls

    def __call__(self) -> dict[str, int]:
        """Calls since then: by reason, and "native"."""
        now = self.function.calls
        counts = {name: count - self.before["python"].get(name, 0) for name, count in now["python"].items()}
        counts["native"] = now["native"] - self.before["native"]
        return {name: count for name, count in counts.items() if count}
