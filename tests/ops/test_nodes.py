"""The nodes that natif builds for a call are the ops that eager executes for it, with the same attributes and constants."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from graphs import HEADER, Node, claims, nodes
from op_examples import Example, examples, function_source, registry, result_annotation, tensors
from recording import Executed, executed

OPS = {op["node"]: op for op in registry()}
EXAMPLES = examples()


@pytest.fixture(scope="module")
def graphs() -> dict[str, dict[str, Any]]:
    source = HEADER + "\n".join(function_source(e.name, e.expression, result_annotation(e.expression)) for e in EXAMPLES)
    return claims(source)


def normal(op: str, attribute: str, value: Any, rank: int) -> list[int]:
    """Axes counted from 0, those of a reduction in order."""
    axes = [int(axis) % rank if rank else int(axis) for axis in np.atleast_1d(value)]
    return axes if attribute == "perm" else sorted(axes)


def check_attributes(node: Node, run: Executed) -> None:
    names = OPS[node.op]["node_attributes"]
    for name, value in run.attributes.items():
        if name in names:
            given = "NHWC" if name == "data_format" and value is None else value
            assert node.attributes[name] == given, name
        else:
            assert not value, f"{name}={value} is not on the node"
    assert set(names) <= set(run.attributes)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.expression)
def test_nodes_are_eagers_ops(graphs: dict[str, dict[str, Any]], example: Example) -> None:
    claim = graphs[example.name]
    assert claim["native"], claim["sites"]
    values = tensors(np.random.default_rng(0))
    ran = executed(lambda: eval(example.expression, {"tf": tf}, values))
    built = nodes(claim["ir"])
    assert [node.op for node in built] == [run.op for run in ran]
    for node, run in zip(built, ran, strict=True):
        check_attributes(node, run)
        constants = OPS[node.op]["node_constants"]
        assert len(constants) == len(run.constants)
        for name, value in zip(constants, run.constants, strict=True):
            assert normal(node.op, name, node.attributes[name], run.rank) == normal(node.op, name, value, run.rank)


def test_every_op_has_examples() -> None:
    built = {node.op for example in EXAMPLES for node in nodes(claims(HEADER + one(example))[example.name]["ir"])}
    assert built == set(OPS)


def one(example: Example) -> str:
    return function_source(example.name, example.expression, result_annotation(example.expression))


def test_sizes_of_results_are_inferred() -> None:
    sizes = {"x": (2, 3, 4), "m": (3, 4), "k": (4, 6), "v": (4,)}
    expressions = """tf.add(x, v); tf.maximum(m, x); x @ k; tf.matmul(m, k); tf.matmul(m, m, transpose_b=True);
        tf.matmul(x, x, transpose_a=True); tf.reduce_sum(x, 1); tf.reduce_mean(x, [0, 2], keepdims=True); tf.argmax(x, 1);
        tf.transpose(x, [2, 0, 1]); tf.nn.softmax(x, 0); tf.nn.bias_add(x, v); tf.nn.relu(x) * 2"""
    parameters = ", ".join(f'{name}: Tensor["float32", {shape}]' for name, shape in sizes.items())
    values = {name: tf.zeros(shape) for name, shape in sizes.items()}
    for expression in (part.strip() for part in expressions.split(";")):
        result = eval(expression, {"tf": tf}, values)
        source = f'{HEADER}def f({parameters}) -> Tensor["{result.dtype.name}", {result.shape.rank}]:\n    return {expression}\n'
        ir = claims(source)["f"]["ir"]
        assert f"-> {'i64' if result.dtype == tf.int64 else 'f32'}{str(result.shape.as_list()).replace(' ', '')} " in ir, (expression, ir)
