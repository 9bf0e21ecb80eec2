"""XLA through TensorFlow: `tf.function(jit_compile=True)`."""

from __future__ import annotations

from functools import partial

from bench.case import Call, Case
from bench.tensorflow_calls import TensorFlowContender


class Entrant(TensorFlowContender):
    name = "xla"
    label = "XLA (jit_compile)"

    def prepare(self, case: Case, witness: bool = False) -> Call:
        import tensorflow as tf

        return partial(tf.function(case.target(witness), jit_compile=True), *self.arguments(case))
