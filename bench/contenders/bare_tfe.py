"""The same ops as eager runs, called from C++ through TensorFlow's TFE C API with reused ops (native/bare_tfe.cpp): what natif's tfe lane
is held against.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from bench import native_extension
from bench.case import Call, Case, NotAvailable
from bench.tensorflow_calls import TensorFlowContender

LAST_AXIS_OF_MATRIX = 1


class ProgramWriter:
    """The vocabulary as a writer of TFE ops. Slots are numbered as native/bare_tfe.cpp does: arguments, the one constant, results."""

    def __init__(self, arguments: int) -> None:
        self.constant = arguments
        self.steps: list[tuple[str, tuple[int, ...]]] = []

    def step(self, op: str, *inputs: int) -> int:
        self.steps.append((op, inputs))
        return self.constant + len(self.steps)

    def add(self, a: int, b: int) -> int:
        return self.step("AddV2", a, b)

    def subtract(self, a: int, b: int) -> int:
        return self.step("Sub", a, b)

    def multiply(self, a: int, b: int) -> int:
        return self.step("Mul", a, b)

    def divide(self, a: int, b: int) -> int:
        return self.step("RealDiv", a, b)

    def matmul(self, a: int, b: int) -> int:
        return self.step("MatMul", a, b)

    def bias_add(self, a: int, b: int) -> int:
        return self.step("BiasAdd", a, b)

    def relu(self, a: int) -> int:
        return self.step("Relu", a)

    def tanh(self, a: int) -> int:
        return self.step("Tanh", a)

    def sigmoid(self, a: int) -> int:
        return self.step("Sigmoid", a)

    def softmax(self, a: int) -> int:
        return self.step("Softmax", a)

    def argmax(self, a: int) -> int:
        return self.step("ArgMax", a, self.constant)


class Entrant(TensorFlowContender):
    name = "bare_tfe"
    label = "bare TFE calls (C++)"
    exact = True

    def require(self) -> None:
        super().require()
        native_extension.load()

    def prepare(self, case: Case, witness: bool = False) -> Call:
        if not case.tensors:
            raise NotAvailable("the function runs no op")
        module, count = native_extension.load(), len(case.tensors)
        writer = ProgramWriter(count)
        slots: dict[str, Any] = {name: slot for slot, name in enumerate(case.tensors)}
        result = case.expression(witness)(writer, slots)
        program = module.new_program(count, (LAST_AXIS_OF_MATRIX,), writer.steps, result)
        return partial(module.run_program, program, *self.arguments(case)[:count])
