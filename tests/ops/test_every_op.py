"""Every example of every op: each lane gives eager's bits or eager's error, over ranks, empty tensors, lengths of 1 to 40 and special
values; NumPy agrees within the rounding of float32."""

from __future__ import annotations

import ast
import functools
import importlib.util
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from evaluating import evaluated
from graphs import HEADER, claims, nodes, numbers
from op_examples import Example, examples, function_source, outcome, registry, result_annotation, same_bits, size_pairs, tensors

import natif
import natif._compiler

EXAMPLES = examples()

SOURCES = {e.name: function_source(e.name, e.expression, result_annotation(e.expression)) for e in EXAMPLES}
SOURCE = HEADER + "\n".join(SOURCES.values())
GRAPHS = claims(SOURCE)


@functools.cache
def why_not_fused(name: str) -> str:
    """Why lane="fused" refuses an example; empty where kernels run all of it."""
    try:
        natif._compiler.compile_module(ast.parse(SOURCE), "<test>", "test", [(GRAPHS[name], name, "fused", "exact")], ["native"])
    except natif.CompileError as error:
        return str(error)
    return ""


def graph_of(example: Example) -> str:
    return GRAPHS[example.name]["ir"]


def load(path: Path, source: str) -> Any:
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compiled(folder: Path, lane: str) -> dict[str, Callable[..., Any]]:
    """All examples as the functions of one module, hence of one artifact."""
    chosen = [e for e in EXAMPLES if lane != "fused" or not why_not_fused(e.name)]
    decorated = "\n".join(f'@natif.native(lane="{lane}", require=True)\n{SOURCES[e.name]}' for e in chosen)
    module = load(folder / f"examples_{lane}.py", f"import natif\n{HEADER}{decorated}")
    return {e.name: getattr(module, e.name) for e in chosen}


def interpreted(folder: Path) -> dict[str, Callable[..., Any]]:
    module = load(folder / "examples_python.py", HEADER + "\n".join(SOURCES.values()))
    return evaluated("".join(graph_of(e) for e in EXAMPLES), {e.name: getattr(module, e.name) for e in EXAMPLES})


@pytest.fixture(scope="module")
def lanes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Callable[..., Any]]]:
    folder = tmp_path_factory.mktemp("every_op")
    return {"evaluator": interpreted(folder)} | {lane: compiled(folder, lane) for lane in ("tfe", "auto", "fused")}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.expression)
def test_bits_are_eagers(lanes: dict[str, dict[str, Callable[..., Any]]], example: Example) -> None:
    functions = {lane: functions[example.name] for lane, functions in lanes.items() if example.name in functions}
    generator = np.random.default_rng(len(example.expression))
    for rows, columns in size_pairs():
        values = tensors(generator, rows, columns, 0.2 if columns % 2 else 0.0, example.parameters)
        want = outcome(lambda: eval(example.expression, {"tf": tf}, values))  # noqa: B023
        for lane, function in functions.items():
            got = outcome(lambda: function(**values))  # noqa: B023
            assert same_bits(got, want), (lane, rows, columns, want, got)
    for lane, function in functions.items():
        assert function.calls["native"] > 0, lane  # type: ignore[attr-defined]


def test_every_kernel_runs_fused() -> None:
    fused = {node.op for example in EXAMPLES if not why_not_fused(example.name) for node in nodes(graph_of(example))}
    assert fused >= {op["node"] for op in registry() if op["kernel"] != "none"}


def test_what_cannot_be_fused_says_where_and_why() -> None:
    refused = {example.expression: why_not_fused(example.name) for example in EXAMPLES if why_not_fused(example.name)}
    assert "tf.nn.bias_add(x2, b1, 'NCHW')" in refused
    assert "tf.matmul(x3, y3, transpose_b=True)" in refused
    for reason in refused.values():
        assert re.fullmatch(r"natif: lane=\"fused\", but \w+ at line \d+, column \d+ of \w+ can't be fused: .+", reason)


def with_numpy(ir: str, values: dict[str, Any]) -> Any:
    """The last node's value, each node computed by its op's NumPy expression."""
    references = {op["node"]: op["numpy"] for op in registry()}
    known: dict[str, Any] = {}

    def value(name: str) -> Any:
        if name not in known:
            given = values[name[1:].rpartition(".")[0]]
            known[name] = given.numpy() if isinstance(given, tf.Tensor) else np.float32(given)
        return known[name]

    for number in numbers(ir):
        known[number.result] = np.float32(number.attributes["value"] if number.op == "literal" else value(number.operands[0]))
    for node in nodes(ir):
        names = {f"x{i}": value(operand) for i, operand in enumerate(node.operands)}
        attributes = {name: tuple(given) if isinstance(given, list) else given for name, given in node.attributes.items()}
        result = known[node.result] = eval(references[node.op], {"np": np}, names | attributes)
    return result


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.expression)
def test_numpy_agrees(example: Example) -> None:
    generator = np.random.default_rng(3)
    for rows, columns in [(1, 1), (5, 5), (4, 7), (7, 33), (3, 0)]:
        values = tensors(generator, rows, columns, names=example.parameters)
        want = outcome(lambda: eval(example.expression, {"tf": tf}, values))  # noqa: B023
        if isinstance(want, str):
            assert rows != columns  # only sizes that do not fit raise
            continue
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):  # means of nothing
            reference = with_numpy(graph_of(example), values)
        assert np.shape(reference) == want.shape
        np.testing.assert_allclose(want, reference, rtol=2e-5, atol=2e-5)
