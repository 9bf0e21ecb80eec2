"""What concerns a whole process, each as a step of life.py, which runs once."""

from __future__ import annotations

import pytest
from isolated import outcomes


@pytest.fixture(scope="module")
def life() -> dict[str, str]:
    return outcomes("life.py")


@pytest.mark.situation(
    "Processes",
    "import, claim, build and calls with numbers before TensorFlow's first use",
    eager="the context is made at the first op",
    natif="leaves the context to TensorFlow: tf.config.threading still works",
)
def test_context_is_left_alone(life: dict[str, str]) -> None:
    assert life["context_is_left_alone"] == "ok"


@pytest.mark.situation(
    "Scopes and hooks",
    "several logical CPUs: a scope or a tensor of another one",
    eager="runs there",
    natif="runs the Python body; refuses the tensor",
)
def test_another_device(life: dict[str, str]) -> None:
    assert life["another_device_of_the_machine"] == "ok"


@pytest.mark.situation(
    "Processes", "Ctrl-C in a long call", eager="between two lines of Python", natif="KeyboardInterrupt within 100 ms, in loops"
)
def test_ctrl_c(life: dict[str, str]) -> None:
    assert life["ctrl_c"] == "ok"


@pytest.mark.situation(
    "Processes", "a signal handler calls a native function", eager="works", natif="works, also inside a long native call"
)
def test_signal_handlers(life: dict[str, str]) -> None:
    assert life["signal_handlers_that_call_native_functions"] == "ok"


@pytest.mark.situation(
    "Processes",
    "a forked child",
    eager="may hang where it needs TensorFlow's threads",
    natif="natif's kernels work, with threads of the child's own",
)
def test_fork(life: dict[str, str]) -> None:
    assert life["a_forked_child"] == "ok"


@pytest.mark.situation("State", "TensorFlow's context is reset", eager="uses the new one", natif="uses the new one")
def test_context_reset(life: dict[str, str]) -> None:
    assert life["a_context_reset"] == "ok"


@pytest.mark.situation(
    "Processes", "a subinterpreter", eager="TensorFlow can not be imported there", natif="refused: ImportError or RuntimeError"
)
def test_subinterpreter(life: dict[str, str]) -> None:
    assert life["a_subinterpreter"] == "ok"


@pytest.mark.situation(
    "Scopes and hooks", "experimental_enable_numpy_behavior", eager="NumPy's type promotion", natif="runs the Python body"
)
def test_numpy_behavior(life: dict[str, str]) -> None:
    assert life["numpy_behavior"] == "ok"


@pytest.mark.situation(
    "Processes",
    "the interpreter ends with live functions, results and a thread inside a call",
    eager="ends",
    natif="ends with exit status 0 and no message",
)
def test_shutdown(life: dict[str, str]) -> None:
    assert life["end"] == "ok"
