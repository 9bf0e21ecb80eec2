"""The ConcreteFunction behind `tf.function`, called directly: no matching of arguments, the graph's fastest call from Python."""

from __future__ import annotations

from functools import partial

from bench.case import Call, Case, NotAvailable
from bench.tensorflow_calls import TensorFlowContender


class Entrant(TensorFlowContender):
    name = "concrete_function"
    label = "ConcreteFunction"

    def prepare(self, case: Case, witness: bool = False) -> Call:
        import tensorflow as tf

        if not case.tensors:
            raise NotAvailable("the function takes no tensor")
        arguments = self.arguments(case)
        concrete = tf.function(case.target(witness)).get_concrete_function(*arguments)
        return partial(concrete, *arguments)  # the scalars too: without them it goes through a failure of its own that takes milliseconds
