"""The contract of rextio-tensorflow 0.1.0 and 0.1.3: what it accepts is native with eager's bits, what it refuses for no deep reason is
native too, and its markers, import aliases, control flow, boundary errors and rules are there."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from seed_programs import ACCEPTED, REFUSED, REFUSED_FOR_NO_DEEP_REASON, imported, names_in, outcome, same, source_of, values

import natif
from natif import _compiler

NATIVE = [*ACCEPTED, *REFUSED_FOR_NO_DEEP_REASON]
LANES = ("auto", "tfe")
SIZES = [(1, 1, 1), (1, 5, 3), (3, 8, 1), (4, 4, 4), (9, 9, 17), (16, 32, 8), (0, 3, 2), (2, 0, 2), (33, 7, 7)]


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[tuple[str, str], Any]]:
    """Every native form in both lanes, by form and lane: one artifact."""
    with imported(tmp_path_factory.mktemp("seed"), source_of(NATIVE)) as module:
        bodies = {form: getattr(module, f"f{number}") for number, form in enumerate(NATIVE)}
        yield {(form, lane): natif.native(lane=lane, require=True)(body) for form, body in bodies.items() for lane in LANES}


@pytest.mark.parametrize("form", NATIVE)
def test_native_with_eagers_bits(functions: dict[tuple[str, str], Any], form: str) -> None:
    for seed, (rows, columns, products) in enumerate(SIZES):
        for special in (False, True):
            given = values(rows, columns, products, special, seed)
            arguments = {name: given[name] for name in names_in(form)}
            expected = outcome(functions[form, "auto"].python, arguments)
            for lane in LANES:
                assert same(outcome(functions[form, lane], arguments), expected), (lane, rows, columns, products, special)
    for lane in LANES:
        function = functions[form, lane]
        assert function.is_native
        assert function.calls["native"] > 0
        assert {site.outcome for site in function.report.sites} == {"Claimed"}


@pytest.mark.parametrize(("form", "kind", "word"), REFUSED)
def test_what_stays_refused(form: str, kind: str, word: str) -> None:
    parameters = "x2: TensorF32Cpu2D, w2: TensorF32Cpu2D, x1: TensorF32Cpu1D, i1: TensorI64Cpu1D"
    source = f"import tensorflow as tf\nfrom natif.types import *\ndef f({parameters}):\n    return {form}\n"
    (claim,) = _compiler.claim_module(ast.parse(source), "program.py", "program")
    assert not claim["native"]
    refused = [site for site in claim["sites"] if site["outcome"] != "Claimed"]
    assert [site["outcome"] for site in refused] == [kind]
    assert word in refused[0]["message"]
    assert (refused[0]["line"], refused[0]["column"]) == (4, 11)
    if kind == "Rejected" and form != "tf.nn.relu(i1)":
        with pytest.raises((tf.errors.InvalidArgumentError, TypeError)):
            eval(form, {"tf": tf}, values(3, 3, 3))


REFERENCE = """
from rextio_tensorflow.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D
import tensorflow as tf

def inference(
    x: TensorF32Cpu2D,
    weight: TensorF32Cpu2D,
    bias: TensorF32Cpu1D,
) -> TensorI64Cpu1D:
    h = tf.matmul(x, weight)           # rank-2 → rank-2
    h = tf.nn.relu(h)                  # rank-2 → rank-2
    h = tf.nn.sigmoid(h)               # optional; rank-2 → rank-2
    h = h + bias                       # or tf.add(h, bias); rank-2
    probabilities = tf.nn.softmax(h, axis=1)  # literal axis=1 → rank-2
    return tf.argmax(probabilities, axis=1)   # default int64 → rank-1
"""

FIRST_REFERENCE = """
from rextio_tensorflow.types import TensorF32Cpu1D, TensorF32Cpu2D
import tensorflow as tf

def inference(
    x: TensorF32Cpu2D,
    weight: TensorF32Cpu2D,
    bias: TensorF32Cpu1D,
) -> TensorF32Cpu1D:
    h = tf.matmul(x, weight)           # rank-2 → rank-2
    h = tf.nn.relu(h)                  # rank-2 → rank-2
    h = tf.nn.sigmoid(h)               # optional; rank-2 → rank-2
    h = h + bias                       # or tf.add(h, bias); rank-2
    return tf.reduce_mean(h, axis=1)   # literal axis=1 → rank-1
"""

SCALAR_CONTROL_FLOW = """
from rextio_tensorflow.types import TensorF32Cpu1D, TensorF32Cpu2D
import tensorflow as tf

def inference(x: TensorF32Cpu2D, weight: TensorF32Cpu2D, bias: TensorF32Cpu1D, depth: int, kind: int) -> TensorF32Cpu1D:
    h = tf.matmul(x, weight)
    for _ in range(depth):
        if kind == 0:
            h = tf.nn.relu(h)
        else:
            h = tf.nn.sigmoid(h)
    h = h + bias
    return tf.reduce_mean(h, axis=1)
"""

FOLLOW_UP = """
from rextio_tensorflow.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D
import tensorflow as tf

def inference(x: TensorF32Cpu2D, v: TensorF32Cpu1D, w: TensorF32Cpu1D) -> TensorI64Cpu1D:
    gate = tf.multiply(tf.nn.relu(v), tf.nn.tanh(tf.nn.sigmoid(w)))
    gate = tf.nn.softmax(gate)
    gate = tf.nn.softmax(gate, axis=0)
    h = tf.math.sqrt(tf.math.log(tf.exp(tf.square(tf.negative(tf.abs(x))))))
    h = tf.nn.bias_add(h, gate, data_format="NHWC")
    h = gate / (h - x)
    h = h - tf.reduce_mean(h, axis=0, keepdims=True)
    h = h * tf.reduce_sum(h, axis=1, keepdims=True)
    h = tf.minimum(tf.maximum(h, x), tf.transpose(tf.transpose(x)))
    return tf.argmax(h, axis=0)
"""


def without_the_package(source: str) -> str:
    """The source with its markers imported for type checkers alone, so that it runs where rextio-tensorflow is not installed."""
    lines = source.strip().splitlines()
    imports = f"from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    {lines[0]}\n"
    return "from __future__ import annotations\n" + imports + "\n".join(lines[1:]) + "\n"


def test_sources_for_the_seed_are_claimed_as_they_are(tmp_path: Path) -> None:
    for name, source in {"reference": REFERENCE, "first": FIRST_REFERENCE, "control": SCALAR_CONTROL_FLOW, "more": FOLLOW_UP}.items():
        (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
    report = natif.check(tmp_path)
    assert len(report.functions) == 4
    assert report.is_native
    assert {site.outcome for site in report.sites} == {"Claimed"}


EXAMPLES = [
    (REFERENCE, [(3, 4), (4, 5), (5,)], [()]),
    (FIRST_REFERENCE, [(3, 4), (4, 5), (5,)], [()]),
    (SCALAR_CONTROL_FLOW, [(3, 4), (4, 5), (5,)], [(0, 0), (3, 0), (2, 1), (5, -1)]),
    (FOLLOW_UP, [(6, 5), (5,), (5,)], [()]),
]


@pytest.mark.parametrize("lane", LANES)
@pytest.mark.parametrize("example", EXAMPLES, ids=["classification", "mean", "control_flow", "follow_up"])
def test_the_seeds_own_programs(tmp_path: Path, example: Any, lane: str) -> None:
    source, shapes, scalars = example
    rng = np.random.default_rng(4)
    with imported(tmp_path, without_the_package(source)) as module:
        function = natif.compile(module.inference, lane=lane, require=True)
        for rows in (1, 2, 16, 129):
            sizes = [(rows, *shapes[0][1:]), *shapes[1:]]
            tensors = [tf.constant(rng.standard_normal(size).astype(np.float32)) for size in sizes]
            for numbers in scalars:
                mine, theirs = function(*tensors, *numbers), function.python(*tensors, *numbers)
                assert same(mine.numpy(), theirs.numpy()), (rows, numbers)
        assert function.calls["python"] == {}


IMPORTS = {
    "import tensorflow": ("tensorflow.nn.relu", "tensorflow.add", "tensorflow.linalg.matmul"),
    "import tensorflow as tf": ("tf.nn.relu", "tf.math.add", "tf.matmul"),
    "import tensorflow as flow": ("flow.nn.relu", "flow.add", "flow.matmul"),
    "from tensorflow import nn, math, linalg": ("nn.relu", "math.add", "linalg.matmul"),
    "from tensorflow import nn as n, add as plus, matmul as mm": ("n.relu", "plus", "mm"),
    "import tensorflow.nn, tensorflow.math, tensorflow.linalg": ("tensorflow.nn.relu", "tensorflow.math.add", "tensorflow.linalg.matmul"),
    "import tensorflow.nn as tn\nimport tensorflow.math as tm\nimport tensorflow.linalg as tl": ("tn.relu", "tm.add", "tl.matmul"),
    "from tensorflow.nn import relu\nfrom tensorflow.math import add\nfrom tensorflow.linalg import matmul": ("relu", "add", "matmul"),
    "from tensorflow.nn import relu as r\nfrom tensorflow.math import add as a\nfrom tensorflow.linalg import matmul as m": ("r", "a", "m"),
}


@pytest.mark.parametrize("imports", IMPORTS, ids=lambda text: text.replace("\n", "; "))
def test_import_aliases(tmp_path: Path, imports: str) -> None:
    relu, add, matmul = IMPORTS[imports]
    body = f"    return {add}({relu}({matmul}(x, w)), b)\n"
    head = f"{imports}\nfrom natif.types import TensorF32Cpu1D, TensorF32Cpu2D\n"
    source = f"{head}def f(x: TensorF32Cpu2D, w: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:\n{body}"
    with imported(tmp_path, source) as module:
        function = natif.compile(module.f, lane="tfe", require=True)
        given = values(5, 3, 3, special=False)
        arguments = (given["x2"], given["w2"], given["b1"])
        assert same(function(*arguments).numpy(), module.f(*arguments).numpy())
        assert function.calls == {"native": 1, "python": {}}


MARKER_IMPORTS = {
    "from rextio_tensorflow.types import TensorF32Cpu2D": "TensorF32Cpu2D",
    "from rextio_tensorflow.types import TensorF32Cpu2D as Matrix": "Matrix",
    "from rextio_tensorflow import types": "types.TensorF32Cpu2D",
    "import rextio_tensorflow.types as rt": "rt.TensorF32Cpu2D",
    "import rextio_tensorflow.types": "rextio_tensorflow.types.TensorF32Cpu2D",
    "import rextio_tensorflow": "rextio_tensorflow.types.TensorF32Cpu2D",
    "from rextio_tensorflow.types import *": "TensorF32Cpu2D",
    "import natif.types as nt": "nt.TensorF32Cpu2D",
}


@pytest.mark.parametrize("imports", MARKER_IMPORTS)
@pytest.mark.parametrize("quoted", [False, True])
def test_markers_are_known_by_name(imports: str, quoted: bool) -> None:
    marker = f'"{MARKER_IMPORTS[imports]}"' if quoted else MARKER_IMPORTS[imports]
    source = f"import tensorflow as tf\n{imports}\ndef f(x: {marker}) -> {marker}:\n    return tf.nn.relu(x)\n"
    (claim,) = _compiler.claim_module(ast.parse(source), "program.py", "program")
    assert claim["native"], claim["sites"]


def test_names_that_are_not_the_markers_are_none() -> None:
    source = "import tensorflow as tf\nfrom elsewhere.types import TensorF32Cpu2D\ndef f(x: TensorF32Cpu2D):\n    return tf.nn.relu(x)\n"
    (claim,) = _compiler.claim_module(ast.parse(source), "program.py", "program")
    assert not claim["native"]


BOUNDARY = """
    import tensorflow as tf
    import natif
    from natif.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D

    @natif.native(require=True)
    def matrix(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
        return tf.nn.relu(x)

    @natif.native(require=True)
    def classes(c: TensorI64Cpu1D) -> TensorI64Cpu1D:
        return c

    @natif.native(require=True)
    def chosen(x: TensorF32Cpu2D, c: TensorI64Cpu1D, which: int) -> TensorI64Cpu1D:
        if which == 0:
            return c
        return tf.argmax(x, axis=1)
"""


@pytest.fixture(scope="module")
def boundary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with imported(tmp_path_factory.mktemp("boundary"), textwrap.dedent(BOUNDARY)) as module:
        yield module


REFUSED_VALUES = {
    "matrix": [
        (lambda: tf.zeros((2, 2), tf.float64), ValueError, "expected a float32 tensor, got float64"),
        (lambda: tf.zeros((2,)), ValueError, "expected a rank-2 tensor, got rank 1"),
        (lambda: tf.Variable(tf.zeros((2, 2))), TypeError, "expected a TensorFlow EagerTensor"),
        (lambda: np.zeros((2, 2), np.float32), TypeError, "expected a TensorFlow EagerTensor"),
        (lambda: [[0.0]], TypeError, "expected a TensorFlow EagerTensor"),
        (lambda: None, TypeError, "expected a TensorFlow EagerTensor"),
    ],
    "classes": [
        (lambda: tf.zeros((2,)), ValueError, "expected a int64 tensor, got float32|expected an int64 tensor, got float32"),
        (lambda: tf.zeros((2,), tf.int32), ValueError, "int64 tensor, got int32"),
        (lambda: tf.zeros((2, 2), tf.int64), ValueError, "expected a rank-1 tensor, got rank 2"),
        (lambda: tf.Variable(tf.zeros((2,), tf.int64)), TypeError, "expected a TensorFlow EagerTensor"),
        (lambda: np.zeros((2,), np.int64), TypeError, "expected a TensorFlow EagerTensor"),
    ],
}


@pytest.mark.parametrize(("name", "number"), [(name, number) for name, cases in REFUSED_VALUES.items() for number in range(len(cases))])
def test_values_that_break_the_annotation_raise(boundary: Any, name: str, number: int) -> None:
    make, error, text = REFUSED_VALUES[name][number]
    function = getattr(boundary, name)
    before = function.calls
    with pytest.raises(error, match=f"^natif: .*({text})"):
        function(make())
    assert function.calls == before


def test_the_int64_vector_is_an_input_and_a_result(boundary: Any) -> None:
    x, c = tf.constant([[1.0, 5.0, 2.0], [7.0, 0.0, 1.0]]), tf.constant([4, -(2**60)], tf.int64)
    assert boundary.classes(c) is c
    assert boundary.chosen(x, c, 0) is c
    result = boundary.chosen(x, c, 1)
    assert (result.dtype, result.numpy().tolist()) == (tf.int64, [1, 0])
    assert boundary.chosen.calls == {"native": 2, "python": {}}


CPU_RULES = {f"RXTP-TENSORFLOW-{number:03}" for number in [*range(1, 10), *range(11, 34), 39]}


def test_the_capabilities_name_every_cpu_rule_of_the_seed() -> None:
    manifest = natif.capabilities()
    assert {seed["code"] for rule in manifest["rules"] for seed in rule["seed_rules"]} == CPU_RULES
    assert manifest["fallback"]["code"] == "RXTP-TENSORFLOW-010"
    for rule in manifest["rules"]:
        if rule["seed_rules"]:
            assert "tfe" in rule["lanes"]
            assert "fused" in rule["lanes"], rule["op"]
