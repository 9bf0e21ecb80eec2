"""Operations that change nothing but denormals: compilers take x - 0, x * 1 and x / 1 for x, where eager's operation flushes. The numbers
are written in the source, given by the caller, or those of a loop that the compiler unrolls."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python import pywrap_tfe

import natif

EXPRESSIONS = [
    *("x - 0", "0 + x", "x + -0.0", "x * 1", "1 * x", "x * -1", "x / 1", "x / -1.0", "x / True", "x - n", "x * (n + 1)", "x / (s + 1)"),
    *("tf.nn.relu(x) * 1 - 0", "tf.transpose(x) - 0", "tf.matmul(x, x) * 1 - 0", "tf.reduce_sum(x, axis=1, keepdims=True) * 1"),
]
FUNCTION = "def f{}(x: TensorF32Cpu2D, n: int, s: float) -> TensorF32Cpu2D:\n    return {}\n"
LOOP = """
def loop(x: TensorF32Cpu2D, n: int, s: float) -> TensorF32Cpu2D:
    y = x
    for i in range(2):
        x = x * i + y
        y = y / (2 - i) - n
    return x / y
"""
VALUES = np.array([1e-40, -1e-40, 0.0, -0.0, 1.0, 1.17549435e-38, np.inf], np.float32)


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder: Path = tmp_path_factory.mktemp("neutral")
    name = f"neutral_numbers_{os.getpid()}"
    text = "".join(FUNCTION.format(number, expression) for number, expression in enumerate(EXPRESSIONS))
    (folder / f"{name}.py").write_text(f"import tensorflow as tf\nfrom natif.types import *\n\n{text}{LOOP}", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        module = importlib.import_module(name)
    bodies = {expression: getattr(module, f"f{number}") for number, expression in enumerate(EXPRESSIONS)} | {"loop": module.loop}
    return {each: natif.native(lane="auto", require=True)(body) for each, body in bodies.items()}


@pytest.mark.parametrize("which", [*EXPRESSIONS, "loop"])
def test_denormals_are_flushed_as_eager_does(functions: dict[str, Any], which: str) -> None:
    function, rng = functions[which], np.random.default_rng(1)
    pywrap_tfe.TFE_ClearScalarCache()  # in which 0.0 and -0.0 are one key: what ran before would decide the sign
    for size in (1, 5, 8, 16, 33):
        x = tf.constant(rng.choice(VALUES, (size, size)))
        mine, theirs = function(x, 0, 0.0).numpy(), function.python(x, 0, 0.0).numpy()
        nan = np.isnan(theirs)
        assert (np.isnan(mine) == nan).all()
        assert mine[~nan].tobytes() == theirs[~nan].tobytes()
    assert function.calls["native"] > 0
