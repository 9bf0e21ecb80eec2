"""What eager executes: the TensorFlow ops of a call, with their attributes.

    python tests/ops/recording.py "tf.nn.softmax(x2, 0)"

prints the ops of the example, over the names of op_examples.py.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import op_callbacks

# Attributes that hold dtypes and counts of the operands, which TensorFlow derives by itself.
DERIVED = {"T", "Tidx", "Tperm", "N"}


@dataclass(frozen=True)
class Executed:
    """An op that eager ran. `constants` are the values of int32 operands after the first operand, such as axes; `rank` is the first's."""

    op: str
    attributes: dict[str, Any]
    constants: list[np.ndarray]
    rank: int


def executed(call: Callable[[], Any]) -> list[Executed]:
    """The ops that `call` runs on tensors that are not int32: eager computes some axes and permutations with ops of their own."""
    ops: list[Executed] = []

    def record(op_type: Any, inputs: Any, attributes: Any, outputs: Any, op_name: Any = None, graph: Any = None) -> None:
        if graph is not None or not inputs or all(operand.dtype == tf.int32 for operand in inputs):
            return
        name = op_type.decode() if isinstance(op_type, bytes) else op_type
        given = dict(zip(attributes[::2], attributes[1::2], strict=True)) if attributes else {}
        kept = {key: plain(value) for key, value in given.items() if key not in DERIVED}
        constants = [operand.numpy() for operand in inputs[1:] if operand.dtype == tf.int32]
        ops.append(Executed(name, kept, constants, inputs[0].shape.rank))

    op_callbacks.add_op_callback(record)
    try:
        call()
    finally:
        op_callbacks.remove_op_callback(record)
    return ops


def plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, tf.DType):
        return value.name
    return value


if __name__ == "__main__":
    from op_examples import tensors

    values = tensors(np.random.default_rng(0))
    for op in executed(lambda: eval(sys.argv[1], {"tf": tf}, values)):
        print(op)
