"""Random loops over several row values of one shape, which hand on to each other: what moves, is swapped or copied between buffers."""

import os
import random
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from importing import imported

from natif import _runtime

FUNCTIONS = range(int(os.environ.get("NATIF_RANDOM_LOOPS", "16")))
NAMES = ("a", "b", "c", "d")


class Program:
    """One function over the carried tensors `a` to `d`, which all have the shape of `a`."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = NAMES[: self.random.randint(2, 4)]
        self.loops = 0

    def value(self) -> str:
        one, other = self.random.choice(self.names), self.random.choice(self.names)
        forms = [one, one, f"tf.tanh({one})", f"{one} + {other} * 0.5", f"tf.matmul({one}, w)", f"tf.nn.softmax({one})"]
        forms += [f"tf.nn.relu(tf.matmul({one}, w) - {other})", f"{one} - tf.reduce_mean({other}, axis=1, keepdims=True)"]
        forms += [f"{one} * (1 / (n + 2)) + b0"]
        return self.random.choice(forms)

    def assignment(self) -> str:
        targets = self.random.sample(self.names, self.random.randint(1, len(self.names)))
        return f"{', '.join(targets)} = {', '.join(self.value() for _ in targets)}"

    def block(self, depth: int, in_loop: str) -> list[str]:
        lines = []
        for _ in range(self.random.randint(1, 3)):
            kind = self.random.randrange(6) if depth < 3 else 0
            if kind <= 2:
                lines.append(self.assignment())
            elif kind <= 4:
                condition = f"({in_loop or 'n'} + {self.random.randint(0, 3)}) % {self.random.choice([2, 3])} == 0"
                leaving = self.random.choice(["break", "continue"]) if in_loop and self.random.random() < 0.3 else ""
                lines += [f"if {condition}:", *indented(self.block(depth + 1, in_loop)), *indented([leaving] if leaving else [])]
                if not leaving and self.random.random() < 0.6:
                    lines += ["else:", *indented(self.block(depth + 1, in_loop))]
            else:
                self.loops += 1
                index = f"i{self.loops}"
                lines += [f"for {index} in range(n - {self.random.randint(0, 2)}):", *indented(self.block(depth + 1, index))]
        return lines

    def text(self, name: str) -> str:
        start = ["a = tf.matmul(x, w)", *(f"{other} = tf.sigmoid(a + {number}.25)" for number, other in enumerate(self.names[1:]))]
        body = [*start, "for i in range(n):", *indented(self.block(1, "i")), *self.block(1, "")]
        results = self.random.sample(self.names, self.random.randint(1, 2))
        body.append(f"return {', '.join(f'{result} * 2.0' if self.random.random() < 0.5 else result for result in results)}")
        returned = "TensorF32Cpu2D" if len(results) == 1 else "tuple[TensorF32Cpu2D, TensorF32Cpu2D]"
        parameters = "x: TensorF32Cpu2D, w: TensorF32Cpu2D, b0: TensorF32Cpu1D, n: int"
        return "\n".join(["@native", f"def {name}({parameters}) -> {returned}:", *indented(body), "", ""])


def indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Any:
    head = "import tensorflow as tf\nimport natif\nfrom natif.types import *\n\nnative = natif.native(require=True)\n\n\n"
    text = head + "".join(Program(seed).text(f"f{seed}") for seed in FUNCTIONS)
    with imported(tmp_path_factory.mktemp("random_loops"), "random_loops", text) as module:
        yield module


@pytest.mark.parametrize("seed", FUNCTIONS)
def test_random_loops(module: ModuleType, seed: int) -> None:
    function, rng = getattr(module, f"f{seed}"), np.random.default_rng(seed)
    for rows, width in [(1, 3), (7, 8), (9, 5), (40, 16), (150, 7)]:
        for count in (0, 1, 2, 5):
            shapes = [(rows, width), (width, width), (width,)]
            given = [tf.constant((rng.standard_normal(shape) * 0.5).astype(np.float32)) for shape in shapes]
            native, eager = function(*given, count), function.python(*given, count)
            pairs = zip(native, eager, strict=True) if isinstance(eager, tuple) else [(native, eager)]
            for mine, theirs in pairs:
                numbers, truth = mine.numpy(), theirs.numpy()
                assert (np.isnan(numbers) == np.isnan(truth)).all(), (rows, width, count, Program(seed).text("f"))
                where = ~np.isnan(truth)
                assert numbers[where].tobytes() == truth[where].tobytes(), (rows, width, count, Program(seed).text("f"))
    assert set(function.calls["python"]) == set(), function.calls


def test_they_are_kernels(module: ModuleType) -> None:
    """In most of the functions no op runs outside of a kernel; some give one tensor twice, which only the ops can."""
    alone = 0
    for seed in FUNCTIONS:
        rng = np.random.default_rng(seed)
        given = [tf.constant((rng.standard_normal(shape) * 0.5).astype(np.float32)) for shape in [(20, 8), (8, 8), (8,)]]
        function = getattr(module, f"f{seed}")
        function(*given, 4)
        _runtime.inject_fault("run_op")
        try:
            function(*given, 4)
            alone += 1
        except RuntimeError:
            pass
        finally:
            _runtime.inject_fault(None)
    assert alone > len(FUNCTIONS) * 2 // 3
