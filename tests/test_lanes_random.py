"""Random programs over everything that kernels fuse, with eager's bits as the oracle. The seed is in each test's name; NATIF_FUZZ_PROGRAMS
and NATIF_FUZZ_SEED make more of them and others."""

import os
import random
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from importing import imported

COUNT, FIRST = int(os.environ.get("NATIF_FUZZ_PROGRAMS", "10")), int(os.environ.get("NATIF_FUZZ_SEED", "1"))
SEEDS = range(FIRST, FIRST + COUNT)
WIDTHS = [1, 2, 3, 5, 8, 9, 10, 16, 17, 31, 33, 64, 70]
UNARY = ["tf.nn.relu({})", "tf.exp({})", "tf.tanh({})", "tf.sigmoid({})", "tf.abs({})", "-{}", "tf.sqrt({})", "tf.math.log({})"]
BINARY = ["{} + {}", "{} - {}", "{} * {}", "{} / {}", "tf.maximum({}, {})", "tf.minimum({}, {})"]
REDUCTIONS = ["sum", "mean", "max", "min"]

# The axes of a value by name: R rows; A to D widths; 1 an axis of one element.
Axes = tuple[str, ...]


class Program:
    """The body of one function, its parameters and its results."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.parameters: list[Axes] = []
        self.lines: list[str] = []
        self.values: list[tuple[str, Axes]] = [self.parameter(self.random.choice([("R", "A"), ("R", "A"), ("A",), ("P", "R", "A")]))]
        for _ in range(self.random.randint(2, 9)):
            self.step()
        made = [name for name, _ in self.values if name.startswith("v")]
        self.results = [made[-1]] + ([self.random.choice(made)] if len(made) > 2 and self.random.random() < 0.4 else [])

    def parameter(self, axes: Axes) -> tuple[str, Axes]:
        self.parameters.append(axes)
        return f"p{len(self.parameters) - 1}", axes

    def value(self, text: str, axes: Axes) -> None:
        self.lines.append(f"    v{len(self.lines)} = {text}")
        self.values.append((f"v{len(self.lines) - 1}", axes))

    def step(self) -> None:
        name, axes = self.random.choice(self.values[-3:]) if self.random.random() < 0.3 else self.values[-1]
        choice, has_row = self.random.random(), bool(axes) and axes[-1] != "1"
        if choice < 0.25 and len(axes) == 2 and has_row:
            self.dense(name, axes)
        elif choice < 0.33 and has_row:
            self.value(f"tf.nn.softmax({name})", axes)
        elif choice < 0.42 and has_row:
            self.reduction(name, axes)
        elif choice < 0.68:
            self.value(self.random.choice(UNARY).format(name), axes)
        else:
            self.binary(name, axes)

    def dense(self, name: str, axes: Axes) -> None:
        width = self.random.choice("ABCD")
        weights, _ = self.parameter((axes[1], width))
        bias, _ = self.parameter((width,))
        product = f"tf.matmul({name}, {weights})"
        self.value(self.random.choice(["tf.nn.bias_add({}, {})", "{} + {}", "{1} + {0}"]).format(product, bias), (axes[0], width))

    def reduction(self, name: str, axes: Axes) -> None:
        keep = self.random.random() < 0.6
        kind = self.random.choice(REDUCTIONS)
        self.value(f"tf.reduce_{kind}({name}, axis=-1, keepdims={keep})", axes[:-1] + (("1",) if keep else ()))

    def binary(self, name: str, axes: Axes) -> None:
        choice = self.random.random()
        if choice < 0.35:
            other = self.random.choice([value for value in self.values if len(value[1]) <= len(axes)])
        elif choice < 0.5:
            other = (f"{self.random.uniform(-2, 2):.3f}", ())
        elif choice < 0.7:
            other = self.parameter(axes[-1:])
        else:
            other = self.parameter(axes if self.random.random() < 0.6 or not axes else (*axes[:-1], "1"))
        padded = ("1",) * (len(axes) - len(other[1])) + other[1]
        if any(a != b and "1" not in (a, b) for a, b in zip(axes, padded, strict=True)):
            return
        pair = [name, other[0]] if self.random.random() < 0.6 else [other[0], name]
        self.value(self.random.choice(BINARY).format(*pair), tuple(b if a == "1" else a for a, b in zip(axes, padded, strict=True)))

    def annotation(self, axes: Axes) -> str:
        dims = "".join("1, " if axis == "1" else "None, " for axis in axes)
        return f'Tensor["float32", ({dims})]'

    def text(self, name: str) -> str:
        parameters = ", ".join(f"p{i}: {self.annotation(axes)}" for i, axes in enumerate(self.parameters))
        types = [self.annotation(dict(self.values)[result]) for result in self.results]
        returned = types[0] if len(types) == 1 else f"tuple[{', '.join(types)}]"
        return "\n".join([f"@native\ndef {name}({parameters}) -> {returned}:", *self.lines, f"    return {', '.join(self.results)}\n\n"])


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Any:
    head = "import tensorflow as tf\nimport natif\nfrom natif.types import *\n\nnative = natif.native(require=True)\n\n\n"
    text = head + "".join(Program(seed).text(f"f{seed}") for seed in SEEDS)
    with imported(tmp_path_factory.mktemp("random"), "random_programs", text) as module:
        yield module


def arguments_of(program: Program, rng: np.random.Generator) -> list[Any]:
    sizes = {"1": 1, "P": int(rng.choice([1, 2, 3])), "R": int(rng.choice([1, 2, 3, 7, 8, 9, 17, 40]))}
    sizes |= {axis: int(rng.choice(WIDTHS)) for axis in "ABCD"}
    shapes = [[sizes[axis] for axis in axes] for axes in program.parameters]
    return [tf.constant((rng.standard_normal(shape) * rng.choice([0.3, 1, 3])).astype(np.float32)) for shape in shapes]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_program(module: ModuleType, seed: int) -> None:
    program, function, rng = Program(seed), getattr(module, f"f{seed}"), np.random.default_rng(seed)
    for _ in range(8):
        arguments = arguments_of(program, rng)
        native, eager = function(*arguments), function.python(*arguments)
        pairs = zip(native, eager, strict=True) if isinstance(eager, tuple) else [(native, eager)]
        for mine, theirs in pairs:
            assert (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype)
            numbers, truth = mine.numpy(), theirs.numpy()
            # Which of two NaNs an operation keeps is not a rule of eager's, so NaN is compared as NaN.
            assert (np.isnan(numbers) == np.isnan(truth)).all(), program.text("f")
            where = ~np.isnan(truth)
            assert numbers[where].tobytes() == truth[where].tobytes(), program.text("f")
    assert set(function.calls["python"]) == set(), function.calls
