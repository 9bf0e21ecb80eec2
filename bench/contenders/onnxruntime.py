"""ONNX Runtime, the weights held as initializers, input and output bound to fixed buffers: its fastest call from Python."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from bench.case import Array, Call, Case, Contender, NotAvailable

OPSET = 18


class GraphWriter:
    """The vocabulary as a writer of ONNX nodes: a tensor is its name in the graph."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []

    def node(self, kind: str, *inputs: str, **attributes: int) -> str:
        from onnx import helper

        output = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [output], **attributes))
        return output

    def add(self, a: str, b: str) -> str:
        return self.node("Add", a, b)

    def subtract(self, a: str, b: str) -> str:
        return self.node("Sub", a, b)

    def multiply(self, a: str, b: str) -> str:
        return self.node("Mul", a, b)

    def divide(self, a: str, b: str) -> str:
        return self.node("Div", a, b)

    def matmul(self, a: str, b: str) -> str:
        return self.node("MatMul", a, b)

    def bias_add(self, a: str, b: str) -> str:
        return self.node("Add", a, b)

    def relu(self, a: str) -> str:
        return self.node("Relu", a)

    def tanh(self, a: str) -> str:
        return self.node("Tanh", a)

    def sigmoid(self, a: str) -> str:
        return self.node("Sigmoid", a)

    def softmax(self, a: str) -> str:
        return self.node("Softmax", a, axis=-1)

    def argmax(self, a: str) -> str:
        return self.node("ArgMax", a, axis=-1, keepdims=0)


def model_of(case: Case, witness: bool) -> tuple[bytes, str]:
    """The case as a serialised ONNX model, and the name of its output."""
    from onnx import TensorProto, helper, numpy_helper

    writer = GraphWriter()
    output = case.expression(witness)(writer, {name: name for name in case.tensors})
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, case.tensors[name].shape) for name in case.data]
    producer = next(node for node in writer.nodes if output in node.output)
    kind = TensorProto.INT64 if producer.op_type == "ArgMax" else TensorProto.FLOAT
    weights = [numpy_helper.from_array(array, name) for name, array in case.weights.items()]
    graph = helper.make_graph(writer.nodes, "case", inputs, [helper.make_tensor_value_info(output, kind, None)], weights)
    opset = [helper.make_opsetid("", OPSET)]
    return helper.make_model(graph, opset_imports=opset, ir_version=helper.find_min_ir_version_for(opset)).SerializeToString(), output


class Entrant(Contender):
    name = "onnxruntime"
    label = "ONNX Runtime"
    bound = True

    def require(self) -> None:
        try:
            import onnx  # noqa: F401
            import onnxruntime  # noqa: F401
        except ImportError as error:
            raise NotAvailable(f"onnxruntime or onnx can't be imported: {error}") from error

    def prepare(self, case: Case, witness: bool = False) -> Call:
        import onnxruntime

        if not case.tensors:
            raise NotAvailable("the function takes no tensor")
        model, output = model_of(case, witness)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.log_severity_level = 3
        # Its threads would go on spinning after a call, and slow down the contender that is timed next.
        options.add_session_config_entry("session.force_spinning_stop", "1")
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        data = {name: case.tensors[name] for name in case.data}
        result = np.empty_like(session.run([output], data)[0])
        binding = session.io_binding()
        for name, array in data.items():
            binding.bind_cpu_input(name, array)
        binding.bind_output(output, "cpu", 0, result.dtype, result.shape, result.ctypes.data)
        return partial(self.run, session, binding, result)

    @staticmethod
    def run(session: Any, binding: Any, result: Array) -> Array:
        session.run_with_iobinding(binding)
        return result
