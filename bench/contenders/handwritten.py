"""The hand-written C++ kernel (handwritten/score.cpp) between tensors, the weights passed: the measure of what natif's compiler emits."""

from __future__ import annotations

from functools import partial

from bench import native_extension
from bench.case import Call, Case, NotAvailable
from bench.tensorflow_calls import TensorFlowContender


class Entrant(TensorFlowContender):
    name = "handwritten"
    label = "hand-written C++"
    exact = True

    def require(self) -> None:
        super().require()
        if not native_extension.load().has_handwritten():
            raise NotAvailable("the hand-written kernel needs AVX-512 F and DQ, which this processor or compiler lacks")

    def prepare(self, case: Case, witness: bool = False) -> Call:
        if case.workload != "score":
            raise NotAvailable("written for the scoring function alone")
        module = native_extension.load()
        return partial(module.handwritten_probabilities if witness else module.handwritten_score, *self.arguments(case))
