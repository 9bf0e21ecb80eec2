"""Fixtures of the runtime's tests. natif's own bugs are errors here: see the rule for failing native code in runtime/native_call.cpp."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["NATIF_TESTING"] = "1"
sys.path.insert(0, str(Path(__file__).parent))

import pytest
import tensorflow as tf
from support import artifact_path

from natif import _runtime


@pytest.fixture(autouse=True)
def healthy() -> Iterator[None]:
    """No test leaves a forced situation behind."""
    yield
    _runtime.inject_fault(None)
    _runtime.override_installation()
    for rule in ("all", "exp", "matmul"):
        _runtime.force_rule(rule, None)


@pytest.fixture
def x() -> tf.Tensor:
    """A [3, 4] matrix without special values."""
    return tf.constant([[0.5, -1.25, 2.0, 3.5], [-0.75, 1.5, -2.25, 0.125], [4.0, -3.5, 0.25, 1.0]])


@pytest.fixture
def w() -> tf.Tensor:
    """A [4, 2] matrix."""
    return tf.constant([[1.0, -2.0], [0.5, 0.25], [-1.5, 3.0], [2.0, 0.75]])


@pytest.fixture
def b() -> tf.Tensor:
    """A [2] vector."""
    return tf.constant([0.1, -0.2])


@pytest.fixture
def subprocess_python() -> Callable[..., str]:
    """Runs a program in a process of its own and gives its standard output; fails the test when the program fails."""

    def run(program: str, **environment: str) -> str:
        paths = [str(Path(__file__).parent), *(path for path in sys.path if path)]
        variables = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "NATIF_TEST_ARTIFACT": artifact_path(), **environment}
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], env=variables, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout + (done.stderr if environment.get("NATIF_LOG") else "")

    return run
