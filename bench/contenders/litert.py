"""LiteRT (TensorFlow Lite) with its XNNPACK kernels, the weights frozen into the model: set the input, invoke, fetch the output."""

from __future__ import annotations

import contextlib
import io
from functools import partial
from typing import Any

from bench.case import Array, Call, Case, NotAvailable
from bench.tensorflow_calls import TensorFlowContender


class Entrant(TensorFlowContender):
    name = "litert"
    label = "LiteRT"
    bound = True

    def require(self) -> None:
        super().require()
        try:
            import ai_edge_litert.interpreter  # noqa: F401
        except ImportError as error:
            raise NotAvailable(f"ai-edge-litert can't be imported: {error}") from error

    def prepare(self, case: Case, witness: bool = False) -> Call:
        from ai_edge_litert.interpreter import Interpreter

        if not case.tensors:
            raise NotAvailable("the function takes no tensor")
        interpreter = Interpreter(model_content=self.converted(case, witness), num_threads=self.threads or None)
        interpreter.allocate_tensors()
        details = interpreter.get_input_details()
        inputs = {each["name"].removeprefix("serving_default_").split(":")[0]: each["index"] for each in details}
        output = interpreter.get_output_details()[0]["index"]
        return partial(self.run, interpreter, [(inputs[name], case.tensors[name]) for name in case.data], output)

    def converted(self, case: Case, witness: bool) -> bytes:
        """The function as a LiteRT model with the data as inputs and all else as constants."""
        import tensorflow as tf

        function, names = case.target(witness), case.data

        def frozen(*data: Any) -> Any:
            given = dict(zip(names, data, strict=True))
            arguments = {name: given[name] if name in given else tf.constant(array) for name, array in case.tensors.items()}
            return function(**arguments, **case.scalars)

        signature = [tf.TensorSpec(case.tensors[name].shape, tf.float32, name=name) for name in names]
        concrete = tf.function(frozen).get_concrete_function(*signature)
        with contextlib.redirect_stderr(io.StringIO()):
            model: bytes = tf.lite.TFLiteConverter.from_concrete_functions([concrete]).convert()
        return model

    @staticmethod
    def run(interpreter: Any, inputs: list[tuple[int, Array]], output: int) -> Array:
        for index, array in inputs:
            interpreter.set_tensor(index, array)
        interpreter.invoke()
        result: Array = interpreter.get_tensor(output)
        return result
