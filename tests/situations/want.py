"""A process that lacks what natif needs for building: a home, room on the disk, a compiler. Each step is a test of test_damage.py."""

from __future__ import annotations

import contextlib
import importlib
import os
import resource
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tensorflow as tf
from observing import same
from stepping import step

import natif

MODULE = """
import tensorflow as tf
import natif
from natif.types import TensorF32Cpu2D

def function(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.exp(x) * {factor}
"""

folder = Path(tempfile.mkdtemp(prefix="natif-want-"))
sys.path.insert(0, str(folder))
x = tf.constant([[0.5, -2.0, 1.0]])
made = 0


def fresh() -> Any:
    """A function that was never built."""
    global made
    made += 1
    (folder / f"wanting{made}.py").write_text(MODULE.format(factor=made + 0.5), encoding="utf-8")
    return importlib.import_module(f"wanting{made}").function


@contextlib.contextmanager
def no_room() -> Iterator[None]:
    """No file that this process or its compilers write can grow past 4 KiB."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@step
def a_home_that_is_read_only() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function = natif.native(fresh())
        same(function, x)
    assert function.calls == {"native": 1, "python": {}}
    (warning,) = [each for each in caught if each.category is RuntimeWarning]
    assert "can't be used" in str(warning.message), warning.message


@step
def no_room_for_a_build() -> None:
    with no_room(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function = natif.native(fresh())
        for _ in range(3):
            same(function, x)
    assert function.calls == {"native": 3, "python": {}}  # interpreted
    (warning,) = [each for each in caught if each.category is RuntimeWarning]
    assert str(warning.message).startswith("natif: "), warning.message
    assert "Free some space" in str(warning.message), warning.message


@step
def no_room_where_native_is_required() -> None:
    function = natif.native(require=True)(fresh())
    with no_room():
        for _ in range(2):
            try:
                function(x)
            except natif.CompileError as error:
                text = str(error)
            else:
                raise AssertionError("it ran")
    assert text.startswith("natif: neither the cache folder"), text


@step
def no_compiler() -> None:
    os.environ["NATIF_CXX"] = str(folder / "no-compiler")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function = natif.native(fresh())
        same(function, x)
    (warning,) = [each for each in caught if each.category is RuntimeWarning]
    assert "no-compiler" in str(warning.message), warning.message
    assert function.calls == {"native": 1, "python": {}}  # interpreted
