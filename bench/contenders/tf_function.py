"""`tf.function` as it is usually called: arguments are matched to a traced graph at every call."""

from __future__ import annotations

from functools import partial

from bench.case import Call, Case
from bench.tensorflow_calls import TensorFlowContender


class Entrant(TensorFlowContender):
    name = "tf_function"
    label = "tf.function"

    def prepare(self, case: Case, witness: bool = False) -> Call:
        import tensorflow as tf

        return partial(tf.function(case.target(witness)), *self.arguments(case))
