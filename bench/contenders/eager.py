"""TensorFlow eager, op by op from Python: the reference for answers and for speed."""

from __future__ import annotations

from functools import partial

from bench.case import Call, Case
from bench.tensorflow_calls import TensorFlowContender


class Entrant(TensorFlowContender):
    name = "eager"
    label = "TensorFlow eager"
    exact = True

    def prepare(self, case: Case, witness: bool = False) -> Call:
        return partial(case.target(witness), *self.arguments(case))
