"""Threads, processes and state: the GIL, signals, forks, shutdown, first builds, the eager context, floating-point state."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import bodies
import numpy as np
import pytest
import tensorflow as tf
from support import artifact, native

from natif import _runtime


def test_the_gil_is_released_in_a_long_call() -> None:
    function = native(bodies.spin)
    worker = threading.Thread(target=function, args=(300,))
    worker.start()
    slices = 0
    while worker.is_alive():
        slices += 1
        time.sleep(0.001)
    worker.join()
    assert slices > 50
    assert function.calls == {"native": 1, "python": {}}


def test_many_threads_call_the_same_functions(x: tf.Tensor, w: tf.Tensor, b: tf.Tensor) -> None:
    dense, square = native(bodies.dense), native(bodies.square)
    big = tf.random.normal((20_000,))
    expected = bodies.dense(x, w, b).numpy(), (big * big).numpy()

    def work(_: int) -> bool:
        return all(np.array_equal(dense(x, w, b), expected[0]) and np.array_equal(square(big), expected[1]) for _ in range(50))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))
    assert dense.calls == {"native": 400, "python": {}}


def test_the_first_build_happens_once_and_the_others_wait(x: tf.Tensor) -> None:
    def slow() -> Any:
        time.sleep(0.3)
        return artifact()

    function = native(bodies.identity, load=slow)
    with ThreadPoolExecutor(6) as pool:
        assert all(result is x for result in pool.map(lambda _: function(x), range(6)))
    assert function.provider.loads == 1
    assert function.calls == {"native": 6, "python": {}}


def test_a_build_that_calls_the_function_itself(x: tf.Tensor) -> None:
    def load() -> Any:
        assert function(x) is x
        return artifact()

    function = native(bodies.identity, load=load)
    assert function(x) is x
    assert function.calls == {"native": 1, "python": {"building": 1}}


def test_an_interrupted_build_is_tried_again(x: tf.Tensor) -> None:
    attempts: list[int] = []

    def load() -> Any:
        attempts.append(1)
        if len(attempts) == 1:
            raise KeyboardInterrupt
        return artifact()

    function = native(bodies.identity, load=load)
    with pytest.raises(KeyboardInterrupt):
        function(x)
    assert function.is_native
    assert function(x) is x
    assert function.calls == {"native": 1, "python": {}}


# ---- natif can't ----


def broken_build() -> Any:
    raise RuntimeError("natif: no C++ compiler was found; install g++")


def test_a_failed_build_is_one_warning(x: tf.Tensor, recwarn: pytest.WarningsRecorder) -> None:
    function = native(bodies.identity, load=broken_build)
    assert function.is_native
    for _ in range(3):
        assert function(x) is x
    (warning,) = [entry for entry in recwarn if entry.category is RuntimeWarning]
    assert str(warning.message) == "natif: no C++ compiler was found; install g++; 'identity' runs in Python"
    assert not function.is_native
    assert function.provider.loads == 1
    assert function.calls == {"native": 0, "python": {"unavailable": 3}}


@pytest.mark.parametrize("options", [{"mode": "native"}, {"require": True}])
def test_a_failed_build_is_an_error_where_native_is_required(x: tf.Tensor, options: dict[str, Any]) -> None:
    function = native(bodies.identity, load=broken_build, **options)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="^natif: no C"):
            function(x)


def test_the_provider_may_say_it_itself(x: tf.Tensor, recwarn: pytest.WarningsRecorder) -> None:
    function = native(bodies.identity, load=broken_build)
    function.provider.unavailable = lambda name, error: function.provider.reported.append((name, error))
    function(x)
    function(x)
    ((name, error),) = function.provider.reported
    assert (name, str(error)) == ("identity", "natif: no C++ compiler was found; install g++")
    assert not [entry for entry in recwarn if entry.category is RuntimeWarning]


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"version": "2.15.1"}, r"TensorFlow 2.15.1 is not supported \(2.16 to 2.21 are\)"),
        ({"version": "2.22.0"}, r"TensorFlow 2.22.0 is not supported"),
        ({"implementation": "pypy"}, "this build is for CPython 3.11, not pypy 3.11"),
        ({"python": "3.13"}, "this build is for CPython 3.11, not cpython 3.13"),
        ({"machine": "riscv64"}, "this build is for linux-"),
        ({"root": "/nowhere"}, "the library /nowhere/.* is not loaded"),
        ({"missing_symbol": "TFE_Execute"}, "TensorFlow .* lacks the symbol TFE_Execute in .*libtensorflow_cc"),
        ({"foreign_symbol": "TF_NewStatus"}, "the symbol TF_NewStatus does not come from .*libtensorflow_framework"),
        ({"library_version": "2.20.0"}, r"tensorflow.__version__ is .* but the loaded library is 2.20.0"),
    ],
)
def test_each_check_of_the_installation_says_what_is_wrong(facts: dict[str, str], text: str, x: tf.Tensor) -> None:
    _runtime.override_installation(**facts)
    with pytest.raises(RuntimeError, match=f"^natif: {text}"):
        _runtime.check_tensorflow()
    with pytest.raises(RuntimeError, match=f"^natif: {text}"):
        native(bodies.identity, require=True)(x)
    function = native(bodies.identity)
    with pytest.warns(RuntimeWarning, match=f"^natif: {text}.*; 'identity' runs in Python"):
        assert function(x) is x
    assert not function.is_native
    _runtime.override_installation()
    _runtime.check_tensorflow()
    assert native(bodies.identity, require=True)(x) is x


def test_artifacts_that_can_not_be_used(tmp_path: Any) -> None:
    with pytest.raises(RuntimeError, match=r"^natif: the artifact .* cannot be loaded"):
        _runtime.Artifact(str(tmp_path / "none.so"))
    (tmp_path / "text.so").write_text("no ELF file")
    with pytest.raises(RuntimeError, match=r"^natif: the artifact .* cannot be loaded"):
        _runtime.Artifact(tmp_path / "text.so")
    with pytest.raises(RuntimeError, match=r"is no artifact: it lacks the symbol natif_module"):
        _runtime.Artifact(_runtime.__file__)


def test_an_artifact_that_does_not_fit(x: tf.Tensor) -> None:
    def unknown(x: tf.Tensor) -> tf.Tensor:
        return x

    def add(x: tf.Tensor, z: tf.Tensor) -> tf.Tensor:
        return x

    for python in (unknown, add):
        python.__qualname__ = python.__name__
        with pytest.raises(RuntimeError, match=f"^natif: the artifact does not fit the function '{python.__name__}'"):
            native(python, require=True)(x)


# ---- state ----


def test_floating_point_state_is_put_back() -> None:
    tiny = np.float32(1e-40)
    function = native(bodies.square)  # its native code leaves flush-to-zero set
    for size in (10, 100_000):
        values = tf.random.normal((size,))
        assert np.array_equal(function(values), values * values)
        assert tiny * np.float32(0.5) != 0
    _runtime.inject_fault("parallel_for")
    with pytest.raises(RuntimeError):
        function(tf.zeros((10,)))
    assert tiny * np.float32(0.5) != 0


def test_ctrl_c_in_a_long_native_call(subprocess_python: Any) -> None:
    subprocess_python("""
        import bodies, os, signal, threading, time
        from support import native
        function = native(bodies.spin)
        function(1)
        sent = []
        def interrupt():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
        threading.Timer(0.3, interrupt).start()
        try:
            function(20_000)
        except KeyboardInterrupt:
            assert time.monotonic() - sent[0] < 0.1 + 1.0 * (os.getloadavg()[0] > os.cpu_count())
        else:
            raise SystemExit("the call was not interrupted")
        assert function.calls == {"native": 1, "python": {}}
    """)


def test_signal_handlers_may_call_native_functions(subprocess_python: Any) -> None:
    subprocess_python("""
        import bodies, signal
        import tensorflow as tf
        from support import native
        function, spin = native(bodies.several), native(bodies.spin)
        x, results = tf.ones((5, 5)), []
        signal.signal(signal.SIGALRM, lambda *_: results.append(function(x)[1]))
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
        assert spin(500) == 500
        signal.setitimer(signal.ITIMER_REAL, 0)
        assert len(results) > 2 and all((r == x + x).numpy().all() for r in results)
    """)


def test_a_forked_child_computes(subprocess_python: Any) -> None:
    subprocess_python(
        """
        import bodies, os
        import numpy as np, tensorflow as tf
        from support import native
        square, add = native(bodies.square), native(bodies.add)
        values, matrix = tf.random.normal((200_000,)), tf.ones((3, 3))
        expected = (values * values).numpy()
        square(values), add(matrix, matrix)
        child = os.fork()
        if child == 0:
            good = np.array_equal(square(values), expected) and np.array_equal(add(matrix, matrix), 2 * np.ones((3, 3)))
            os._exit(0 if good else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert np.array_equal(square(values), expected)
    """,
        NATIF_NUM_THREADS="2",
    )


def test_shutdown_with_live_functions_and_results(subprocess_python: Any) -> None:
    out = subprocess_python("""
        import atexit, sys
        import bodies
        import tensorflow as tf
        from support import native

        class Last:
            def __del__(self):
                function(x)

        x = tf.ones((2, 2))
        atexit.register(lambda: print(type(function(x)).__name__, function.calls["python"]))  # runs after natif's own
        function = native(bodies.identity)
        dense, total = native(bodies.dense), native(bodies.total)
        keep = [dense(x, x, x[0]), total(x), function(x)]
        sys.keep = [function, keep, Last()]
    """)
    assert out.strip().endswith("EagerTensor {}") or "shutdown" in out


SUBINTERPRETER = """
import _xxsubinterpreters as interpreters
import natif._runtime
interpreters.run_string(interpreters.create(), '''
def body(): return None
try:
    from natif import _runtime
    _runtime.NativeFunction(body, None, "body", {})
except (ImportError, RuntimeError) as error:
    assert "main interpreter only" in str(error), error
else:
    raise SystemExit("not refused")
''')
"""


def test_subinterpreters_are_refused(subprocess_python: Any) -> None:
    subprocess_python(SUBINTERPRETER)


def test_the_eager_context_is_left_to_tensorflow(subprocess_python: Any) -> None:
    subprocess_python("""
        import tensorflow as tf
        from natif import _runtime
        import support

        def numbers(n: int, f: float = 1.0, *, b: bool = False):
            return n * 2, f / 2, not b

        function = support.native(numbers)
        function.provider.names = {}
        _runtime.check_tensorflow()
        assert function(3) == (6, 0.5, True)
        assert function.calls == {"native": 1, "python": {}}
        tf.config.threading.set_intra_op_parallelism_threads(1)   # raises once the context is initialised
        tf.zeros(1)
        assert function(3) == (6, 0.5, True)
    """)


def test_a_context_reset_is_noticed(subprocess_python: Any) -> None:
    subprocess_python("""
        import gc
        import bodies
        import numpy as np, tensorflow as tf
        from tensorflow.python.eager import context
        from support import native
        dense, total = native(bodies.dense), native(bodies.total)
        for _ in range(3):
            x = tf.random.normal((3, 3))
            assert np.array_equal(dense(x, x, x[0]), bodies.dense(x, x, x[0]))
            assert np.array_equal(total(x), bodies.total(x))
            del x
            context._reset_context()
            gc.collect()
        assert dense.calls == {"native": 3, "python": {}}
    """)


def test_numpy_behaviour(subprocess_python: Any) -> None:
    subprocess_python("""
        import bodies
        import tensorflow as tf
        from support import native
        function = native(bodies.identity)
        x = tf.ones((2, 2))
        function(x)
        tf.experimental.numpy.experimental_enable_numpy_behavior()
        function(x)
        assert function.calls == {"native": 1, "python": {"numpy_behavior": 1}}
    """)


def test_threads_are_set_by_the_environment(subprocess_python: Any) -> None:
    program = (
        "import bodies, tensorflow as tf; from natif import _runtime; from support import native; native(bodies.identity)(tf.ones((1, 1)));"
    )
    assert subprocess_python(f"{program} print(_runtime.pool_threads())", NATIF_NUM_THREADS="1").strip() == "1"
    limited = f"import tensorflow as tf; tf.config.threading.set_intra_op_parallelism_threads(1); {program} print(_runtime.pool_threads())"
    assert subprocess_python(limited).strip() == "1"
    by_default = subprocess_python(f"{program} print(_runtime.pool_threads())", NATIF_NUM_THREADS="")
    assert 1 <= int(by_default) <= len(os.sched_getaffinity(0))
    # The variable comes before TensorFlow's setting, and the machine before both.
    assert subprocess_python(limited, NATIF_NUM_THREADS="4096") == by_default
    many = limited.replace("threads(1)", "threads(512)")
    assert subprocess_python(many) == by_default
    alone = f"import os; os.sched_setaffinity(0, {{min(os.sched_getaffinity(0))}}); {program} print(_runtime.pool_threads())"
    assert subprocess_python(alone, NATIF_NUM_THREADS="2").strip() == "1"


THREADS_THAT_ARE_NO_NUMBER = """
    import warnings
    import bodies, os, tensorflow as tf
    from natif import _runtime
    from support import native
    function = native(bodies.identity)
    x = tf.ones((1, 1))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(3):
            try:
                assert function(x) is x
            except RuntimeError as error:
                print(error)
    for warning in seen:
        print(warning.category.__name__, warning.message)
    print(function.calls["native"])
"""


def test_threads_that_are_no_number_are_one_warning(subprocess_python: Any) -> None:
    said = "natif: NATIF_NUM_THREADS must be a whole number from 1 to 4096, got 'two'"
    lines = subprocess_python(THREADS_THAT_ARE_NO_NUMBER, NATIF_NUM_THREADS="two").splitlines()
    assert lines == [f"RuntimeWarning {said}; natif goes on as without it", "3"]
    lines = subprocess_python(THREADS_THAT_ARE_NO_NUMBER, NATIF_NUM_THREADS="two", NATIF_MODE="native").splitlines()
    assert lines == [said, said, said, "0"]


def test_the_log_says_where_each_call_ran(subprocess_python: Any) -> None:
    out = subprocess_python(
        """
        import bodies
        import tensorflow as tf
        from support import native
        function = native(bodies.identity)
        x = tf.ones((1, 1))
        function(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            function(x)
    """,
        NATIF_LOG="1",
    )
    assert "natif: identity: native\n" in out
    assert "natif: identity: Python, because of tape\n" in out
