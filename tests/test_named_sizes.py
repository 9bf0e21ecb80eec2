"""Sizes of one name on several parameters are the same: checked at each native call, kept in the graph's text, fixed together by bind()."""

from collections.abc import Iterator
from typing import Any

import pytest
import tensorflow as tf
from evaluating import evaluated
from importing import imported

import natif

PROGRAM = """
import tensorflow as tf
import natif
from natif.types import *

Rows = Tensor["float32", ("batch", 3)]


def rows(x: Rows, y: TensorF32Cpu2D, m: Tensor["float32", ("batch", "k")]) -> Rows:
    return x + tf.reduce_sum(y) + tf.reduce_sum(m)


def weighted(x: Tensor["float32", ("batch", "k")], w: "Tensor['float32', ('k', 'n')]", b: Tensor["float32", ("n",)]) -> TensorF32Cpu2D:
    return tf.exp(x) + tf.reduce_sum(w) + tf.reduce_sum(b)


def square(x: Tensor["float32", ("n", "n")]) -> TensorF32Cpu2D:
    return tf.exp(x)


def alone(x: Tensor["float32", ("batch", "k")], y: Tensor["float32", (None, 2)]) -> TensorF32Cpu0D:
    return tf.reduce_sum(x) + tf.reduce_sum(y)
"""
REMEDY = ', or use on_mismatch="fallback" to run such calls in Python'


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with imported(tmp_path_factory.mktemp("sizes"), "sizes", PROGRAM) as module:
        yield module


WRONG = [
    ("rows", [(4, 3), (2, 2), (5, 7)], "expected size 4 in dimension 0 of 'm', as in dimension 0 of 'x', got 5"),
    ("weighted", [(4, 3), (2, 5), (5,)], "expected size 3 in dimension 0 of 'w', as in dimension 1 of 'x', got 2"),
    ("weighted", [(4, 3), (3, 5), (4,)], "expected size 5 in dimension 0 of 'b', as in dimension 1 of 'w', got 4"),
    ("square", [(4, 3)], "expected size 4 in dimension 1 of 'x', as in dimension 0 of 'x', got 3"),
]
RIGHT = [("rows", [(4, 3), (2, 2), (4, 7)]), ("weighted", [(4, 3), (3, 5), (5,)]), ("square", [(3, 3)]), ("alone", [(4, 3), (5, 2)])]


@pytest.mark.parametrize("lane", ["auto", "tfe", "evaluator"])
@pytest.mark.parametrize(("name", "shapes", "said"), WRONG)
def test_other_sizes_are_refused(program: Any, lane: str, name: str, shapes: list[tuple[int, ...]], said: str) -> None:
    body = getattr(program, name)
    compiled = natif.compile(body, lane="auto" if lane == "evaluator" else lane, require=True)
    function = evaluated(compiled.source("ir"), {name: body})[name] if lane == "evaluator" else compiled
    with pytest.raises(ValueError, match=r"^natif: expected size") as caught:
        function(*(tf.ones(shape) for shape in shapes))
    assert str(caught.value) == f"natif: {said}{REMEDY}"


@pytest.mark.parametrize(("name", "shapes"), RIGHT)
def test_equal_sizes_run(program: Any, name: str, shapes: list[tuple[int, ...]]) -> None:
    function = natif.compile(getattr(program, name), require=True)
    arguments = [tf.ones(shape) for shape in shapes]
    before = function.calls["native"]
    assert function(*arguments).numpy().tobytes() == function.python(*arguments).numpy().tobytes()
    assert function.calls == {"native": before + 1, "python": {}}


def test_fallback_runs_the_body(program: Any) -> None:
    function = natif.compile(program.weighted, on_mismatch="fallback", require=True)
    assert function(tf.ones((4, 3)), tf.ones((2, 5)), tf.ones((5,))).shape == (4, 3)
    assert function.calls == {"native": 0, "python": {"mismatch": 1}}


def test_the_graph_shows_which_are_shared(program: Any) -> None:
    graph = natif.compile(program.weighted, require=True).source("ir")
    assert graph.startswith("func weighted(%x.0: f32[?,?1], %w.1: f32[?1,?2], %b.2: f32[?2]) -> ")
    assert natif.compile(program.alone, require=True).source("ir").startswith("func alone(%x.0: f32[?,?], %y.1: f32[?,2]) -> ")


def test_bound_sizes_fix_those_of_their_name(program: Any) -> None:
    bound = natif.compile(program.weighted, require=True).bind(w=tf.ones((3, 5)))
    assert bound(tf.ones((4, 3)), tf.ones((5,))).shape == (4, 3)
    assert bound.source("ir").startswith("func weighted(%x.0: f32[?,3], bound %w.1: f32[3,5], %b.2: f32[5]) -> ")
    with pytest.raises(ValueError, match=r"^natif: expected size 3 in dimension 1 of 'x', got 4"):
        bound(tf.ones((4, 4)), tf.ones((5,)))
    generic = natif.compile(program.weighted, require=True, specialize=False).bind(w=tf.ones((3, 5)))
    with pytest.raises(ValueError, match=r"^natif: expected size 4 in dimension 0 of 'w', as in dimension 1 of 'x', got 3"):
        generic(tf.ones((4, 4)), tf.ones((5,)))
