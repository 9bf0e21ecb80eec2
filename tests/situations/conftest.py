"""Fixtures of the tests of situations: tensors, the native functions, programs of their own processes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["NATIF_TESTING"] = "1"
sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import pytest
import tensorflow as tf


@pytest.fixture
def draw() -> Callable[..., tf.Tensor]:
    """Draws a float32 tensor of a shape, the same ones in each test."""
    rng = np.random.default_rng(5)
    return lambda *shape, scale=1.0: tf.constant((rng.standard_normal(shape) * scale).astype(np.float32))


@pytest.fixture
def x(draw: Any) -> tf.Tensor:
    """A [5, 4] matrix."""
    return draw(5, 4)


@pytest.fixture
def w(draw: Any) -> tf.Tensor:
    """A [4, 3] matrix."""
    return draw(4, 3, scale=0.7)


@pytest.fixture
def b(draw: Any) -> tf.Tensor:
    """A [3] vector."""
    return draw(3)
