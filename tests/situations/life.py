"""A program's life, in the order in which its steps have to come: before TensorFlow's first use, through signals, forks and resets, to a
shutdown with live functions and results. Each step is a test of test_threads_and_processes.py.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings

import numpy as np
import programs
import tensorflow as tf
from observing import Watch, observed, same
from stepping import step
from tensorflow.python.eager import context

import natif

# A machine that runs more than it has processors for answers later.
SLACK = 0.1 + 1.0 * ((os.getloadavg()[0]) > (os.cpu_count() or 1))


@step
def context_is_left_alone() -> None:
    assert natif.compile(programs.whole.python, require=True)(-7, 2) == -3
    assert programs.whole(-7, 2) == -3
    assert programs.whole.calls == {"native": 1, "python": {}}
    assert context.context_safe() is None or context.context()._context_handle is None
    tf.config.threading.set_intra_op_parallelism_threads(2)  # raises once the context is initialised
    tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2)


x, w, b = (tf.random.stateless_normal(shape, [1, 2]) for shape in ((5, 4), (4, 3), (3,)))
big = tf.random.stateless_normal((600, 400), [3, 4])


@step
def another_device_of_the_machine() -> None:
    watch = Watch(programs.dense)
    with tf.device("CPU:1"):
        assert observed(programs.dense, x, w, b) == observed(programs.dense.python, x, w, b)
        elsewhere = tf.identity(x)
    assert watch() == {"device": 1}
    refused = observed(programs.dense, elsewhere, w, b)
    assert refused[:2] == ("error", "ValueError"), refused
    assert "expected a tensor on CPU:0, got one on" in refused[3]
    same(programs.patient, elsewhere, elsewhere)


def interrupted(call: object) -> float:
    """Seconds from SIGINT to KeyboardInterrupt in a call."""
    sent = []

    def interrupt() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Timer(0.2, interrupt).start()
    try:
        call()  # type: ignore[operator]
    except KeyboardInterrupt:
        return time.monotonic() - sent[0]
    raise AssertionError("the call was not interrupted")


@step
def ctrl_c() -> None:
    assert interrupted(lambda: programs.count(10**12)) < SLACK
    assert interrupted(lambda: programs.long_chain(big, 10**9)) < SLACK
    same(programs.dense, x, w, b)


@step
def signal_handlers_that_call_native_functions() -> None:
    expected, results = observed(programs.dense.python, x, w, b), []
    signal.signal(signal.SIGALRM, lambda *_: results.append(observed(programs.dense, x, w, b)))
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
    deadline = time.monotonic() + 20
    while len(results) < 3 and time.monotonic() < deadline:
        programs.count(10**7)
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert len(results) >= 3
    assert all(result == expected for result in results)


@step
def a_forked_child() -> None:
    for function, arguments in ((programs.dense, (x, w, b)), (programs.pair, (big,))):
        same(function, *arguments)
    expected = observed(programs.dense, x, w, b), observed(programs.pair, big)
    child = os.fork()
    if child == 0:
        os._exit(0 if (observed(programs.dense, x, w, b), observed(programs.pair, big)) == expected else 1)
    deadline = time.monotonic() + 60
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < deadline:
        time.sleep(0.01)
    if ended == (0, 0):
        os.kill(child, signal.SIGKILL)
    assert ended[1] == 0, ended
    assert (observed(programs.dense, x, w, b), observed(programs.pair, big)) == expected


@step
def a_context_reset() -> None:
    global x, w, b
    values = [tensor.numpy() for tensor in (x, w, b)]
    expected = [observed(function, x, w, b)[-1] for function in (programs.dense, programs.classes)]
    for _ in range(2):
        context._reset_context()
        x, w, b = (tf.constant(value) for value in values)
        watch = Watch(programs.dense)
        assert [observed(function, x, w, b)[-1] for function in (programs.dense, programs.classes)] == expected
        assert watch() == {"native": 1}


@step
def a_subinterpreter() -> None:
    import _xxsubinterpreters as interpreters

    program = """
try:
    from natif import _runtime
    _runtime.NativeFunction(lambda: None, None, "body", {})
except (ImportError, RuntimeError) as error:
    assert "main interpreter only" in str(error), error
else:
    raise AssertionError("not refused")
"""
    interpreters.run_string(interpreters.create(), program)


@step
def numpy_behavior() -> None:
    watch = Watch(programs.dense)
    tf.experimental.numpy.experimental_enable_numpy_behavior()
    assert observed(programs.dense, x, w, b) == observed(programs.dense.python, x, w, b)
    assert watch() == {"numpy_behavior": 1}


class Last:
    """Calls a native function while the interpreter ends."""

    def __del__(self) -> None:
        assert programs.dense(x, w, b) is not None


warnings.simplefilter("error")
sys.keep = [programs.dense, programs.dense(x, w, b), programs.pair(big), Last(), np.asarray(programs.pair(x)[0])]  # type: ignore[attr-defined]
threading.Thread(target=lambda: [programs.pair(big) for _ in range(10**6)], daemon=True).start()
