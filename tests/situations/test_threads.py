"""Threads and the state of a thread: the GIL, first builds, floating-point control, TensorFlow's context, random numbers."""

from __future__ import annotations

import ctypes
import functools
import importlib
import os
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import programs
import pytest
import tensorflow as tf
from observing import Watch, described, observed, same
from tensorflow.python.eager import context

import natif


def turns_while(call: Any) -> int:
    """How many turns of a millisecond this thread got while another made the call."""
    worker = threading.Thread(target=call)
    worker.start()
    turns = 0
    while worker.is_alive():
        turns += 1
        time.sleep(0.001)
    worker.join()
    return turns


@pytest.mark.situation("Threads", "a call that takes long", eager="holds the GIL between ops", natif="releases the GIL")
def test_gil(draw: Any) -> None:
    x = draw(200, 300)
    for call, few in ((lambda n: programs.long_chain(x, n), 100), (programs.count, 1_000_000)):
        started = time.monotonic()
        call(few)
        many = int(few * 0.5 / (time.monotonic() - started))
        # With the GIL held the other thread would get one turn at the start and one at the end.
        assert turns_while(functools.partial(call, many)) > 6


@pytest.mark.situation(
    "Threads", "many threads call one function at once", eager="the same results", natif="the same bits as from one thread"
)
def test_many_threads(draw: Any) -> None:
    cases = [(draw(n, 4), draw(4, 3), draw(3)) for n in (1, 7, 64, 900)]
    expected = [[described(f.python(*case)) for f in (programs.dense, programs.classes)] for case in cases]
    watch = Watch(programs.dense)

    def work(_: int) -> bool:
        return all(
            [described(f(*case)) for f in (programs.dense, programs.classes)] == result
            for _ in range(20)
            for case, result in zip(cases, expected, strict=True)
        )

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))
    assert watch() == {"native": 8 * 20 * 4}


MODULE = """
import tensorflow as tf
import natif
from natif.types import TensorF32Cpu2D

@natif.native(require=True)
def first(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.exp(x) * {factor}

@natif.native(require=True)
def second(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return first(x) + 1.0
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A module of its own with a cache of its own; called with a factor, it is written and imported or reloaded."""
    monkeypatch.setenv("NATIF_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(tmp_path))
    name = f"situation_{os.getpid()}_{tmp_path.name}"

    def load(factor: float) -> Any:
        path = tmp_path / f"{name}.py"
        path.write_text(MODULE.format(factor=factor), encoding="utf-8")
        stamp = time.time() - 1000 * factor
        os.utime(path, (stamp, stamp))
        importlib.invalidate_caches()
        return importlib.reload(sys.modules[name]) if name in sys.modules else importlib.import_module(name)

    yield load
    sys.modules.pop(name, None)


@pytest.mark.situation("Threads", "many threads make the first call", eager="", natif="one builds, the others wait; all results are right")
def test_first_build(module: Any, draw: Any) -> None:
    x, loaded = draw(5, 3), module(2.0)
    functions = [loaded.first, loaded.second] * 4
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda function: observed(function, x), functions))
    assert results == [observed(function.python, x) for function in functions]
    assert loaded.first.calls["native"] == 4 + 4  # the body of `second` calls it
    assert len(list(Path(os.environ["NATIF_CACHE_DIR"]).glob("*.so"))) == 1


@pytest.mark.situation("State", "a module is changed and reloaded", eager="runs the new code", natif="builds and runs the new code")
def test_reload(module: Any, draw: Any) -> None:
    x = draw(5, 3)
    loaded = module(2.0)
    old = loaded.second
    before = same(old, x)
    loaded = module(3.0)
    assert same(loaded.second, x) != before
    assert loaded.second.calls == {"native": 1, "python": {}}
    # The old function's body calls the new `first`, so what was compiled no longer holds.
    assert same(old, x) != before
    assert old.calls["python"] == {"rebound": 1}


C = ctypes.CDLL("libm.so.6")
TONEAREST, DOWNWARD, UPWARD, TOWARDZERO = (0, 0x400, 0x800, 0xC00) if os.uname().machine == "x86_64" else (0, 0x800000, 0x400000, 0xC00000)


def control() -> int:
    """The thread's floating-point control bits."""
    state = (ctypes.c_uint32 * 16)()
    assert C.fegetenv(state) == 0
    # glibc's fenv_t: MXCSR is its last word on x86-64, FPCR its first on AArch64. The low six bits of MXCSR only record what happened.
    return int(state[7]) & ~0x3F if os.uname().machine == "x86_64" else int(state[0])


@pytest.mark.situation(
    "State",
    "floating-point control: rounding, denormals",
    eager="as before after every call",
    natif="as before after every call, also a failing one",
)
def test_floating_point_control(x: Any, w: Any, b: Any, draw: Any) -> None:
    big = draw(700, 300)
    tiny = np.float32(1e-40)
    before = control()
    calls = [
        (programs.dense, (x, w, b)),
        (programs.pair, (big,)),
        (programs.long_chain, (big, 3)),
        (programs.quotient, (x, w)),
        (programs.whole, (1, 0)),
    ]
    for function, arguments in calls:
        same(function, *arguments)
        assert control() == before
        assert tiny * np.float32(0.5) != 0


@pytest.mark.situation(
    "State", "the caller has set another rounding mode", eager="computes to nearest", natif="the same bits; the mode is kept"
)
@pytest.mark.parametrize("mode", [DOWNWARD, UPWARD, TOWARDZERO])
def test_rounding_modes(mode: int, x: Any, w: Any, b: Any, draw: Any) -> None:
    big = draw(700, 300)
    calls = [(programs.dense, (x, w, b)), (programs.pair, (big,)), (programs.quotient, (big, big + 1.0)), (programs.scaled, (x, 3, 1.5))]
    expected = [observed(function, *arguments) for function, arguments in calls]
    C.fesetround(mode)
    try:
        mine = [observed(function, *arguments) for function, arguments in calls]
        kept = C.fegetround()
        theirs = [observed(function.python, *arguments) for function, arguments in calls]
    finally:
        C.fesetround(TONEAREST)
    assert mine == theirs == expected
    assert kept == mode


@pytest.mark.situation("State", "random numbers", eager="only the body's own draws", natif="no draw of its own")
def test_random_state(x: Any, w: Any, b: Any) -> None:
    def numbers() -> Any:
        return (
            tf.random.normal((3,)).numpy().tolist(),
            np.random.rand(3).tolist(),
            tf.random.get_global_generator().normal((2,)).numpy().tolist(),
        )

    def seeded(*, called: bool) -> Any:
        tf.keras.utils.set_random_seed(7)
        tf.random.set_global_generator(tf.random.Generator.from_seed(7))
        if called:
            fresh = natif.compile(programs.dense.python, require=True)
            fresh(x, w, b)
        return numbers()

    assert seeded(called=True) == seeded(called=False)


@pytest.mark.situation(
    "State",
    "the eager context's scopes and settings",
    eager="as before after every call",
    natif="as before after every call, also a failing one",
)
def test_context(x: Any, w: Any, b: Any) -> None:
    def facts() -> Any:
        current = context.context()
        thread = current._thread_local_data
        return (
            [getattr(thread, name) for name in ("device_name", "scope_name", "is_eager", "op_callbacks", "invoking_op_callbacks")],
            id(current._handle),
            tf.config.threading.get_intra_op_parallelism_threads(),
            threading.active_count(),
        )

    with tf.device("CPU:0"), tf.name_scope("scope"):
        same(programs.dense, x, w, b)
        before = facts()
        for arguments in ((x, w, b), (x, b, b), (x, x, b), (x, None, b)):
            observed(programs.dense, *arguments)
            assert facts() == before


@pytest.mark.situation("State", "results outlive the function, its module and its inputs", eager="", natif="results own their memory")
def test_results_live_on(draw: Any) -> None:
    function = natif.compile(programs.pair.python, require=True)
    expected = described(function.python(draw(50, 40)))
    rng = np.random.default_rng(5)
    results = function(tf.constant(rng.standard_normal((50, 40)).astype(np.float32)))
    del function
    for _ in range(20):
        programs.pair(draw(50, 40))
    assert described(results) == expected
