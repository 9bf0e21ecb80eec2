"""Random programs called under random stacks of situations: the native form and the Python body give the same value, bits, error,
gradients, devices and observed ops.

The programs are those of tests/fuzz. A layer turns a function into one that calls it in some situation; a stack is one to four layers.

    .venv/bin/python tests/situations/fuzz_situations.py --minutes 10      tries more, until a difference is found
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import random
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["NATIF_TESTING"] = "1"
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "fuzz"), str(HERE.parent)]

import tensorflow as tf  # noqa: E402
from fuzz_lanes import Module, calls, program  # noqa: E402
from observing import described, observed  # noqa: E402
from tensorflow.python import pywrap_tfe  # noqa: E402
from tensorflow.python.eager import context, executor  # noqa: E402
from tensorflow.python.framework import op_callbacks  # noqa: E402

tf.get_logger().setLevel("ERROR")  # AutoGraph warns of functions that it leaves as they are
tf.autograph.set_verbosity(0)

Function = Callable[..., Any]


@dataclass
class Play:
    """One call under one stack, as seen from outside."""

    seen: list[Any] = field(default_factory=list)  # gradients and ops, in the order of events
    exact: bool = True  # whether messages count too: those that name graphs and times do not


Layer = Callable[[random.Random, Function, Play], Function]


def tensors_of(arguments: Any) -> list[Any]:
    return [value for value in tf.nest.flatten(arguments) if tf.is_tensor(value) and value.dtype.is_floating]


def chosen(rng: random.Random, values: list[Any]) -> list[Any]:
    """Some of the tensors, at times none. The choice depends on the generator's state alone."""
    dice = [rng.random() for _ in range(12)]
    return [value for value, number in zip(values, dice, strict=False) if number < 0.5]


def tape(rng: random.Random, function: Function, play: Play) -> Function:
    persistent, seed = rng.random() < 0.3, rng.random()

    def call(*arguments: Any) -> Any:
        watched = chosen(random.Random(seed), tensors_of(arguments))
        with tf.GradientTape(persistent=persistent) as recorder:
            for tensor in watched:
                recorder.watch(tensor)
            result = function(*arguments)
            targets = tensors_of(result)
        gradients = recorder.gradient(targets, watched) if targets and watched else []
        # Inside a graph the gradients join the results, where their bits can be compared.
        if not tf.executing_eagerly():
            return result, [gradient for gradient in gradients if gradient is not None]
        play.seen.append(["gradients", described(gradients)])
        return result

    return call


def stopped(rng: random.Random, function: Function, play: Play) -> Function:
    def call(*arguments: Any) -> Any:
        with tf.GradientTape() as recorder:
            for tensor in tensors_of(arguments):
                recorder.watch(tensor)
            with recorder.stop_recording():
                result = function(*arguments)
        return result

    return call


def accumulator(rng: random.Random, function: Function, play: Play) -> Function:
    seed = rng.random()

    def call(*arguments: Any) -> Any:
        followed = chosen(random.Random(seed), tensors_of(arguments))[:1]
        if not followed or not tf.executing_eagerly():
            return function(*arguments)
        with tf.autodiff.ForwardAccumulator(followed[0], tf.ones_like(followed[0])) as forward:
            result = function(*arguments)
        play.seen.append(["tangents", described([forward.jvp(tensor) for tensor in tensors_of(result)])])
        return result

    return call


def scope(manager: Callable[[], Any]) -> Layer:
    """A layer that enters a context manager."""

    def layer(rng: random.Random, function: Function, play: Play) -> Function:
        def call(*arguments: Any) -> Any:
            with manager():
                return function(*arguments)

        return call

    return layer


def device(rng: random.Random, function: Function, play: Play) -> Function:
    name = rng.choice(["CPU:0", "/cpu:0", None, "", "GPU:0", "CPU:1", "/job:worker/task:0/device:CPU:0"])
    return scope(lambda: tf.device(name))(rng, function, play)


def check_numerics(rng: random.Random, function: Function, play: Play) -> Function:
    play.exact = False  # its message has the time and the place of the op

    def call(*arguments: Any) -> Any:
        tf.debugging.enable_check_numerics()
        try:
            return function(*arguments)
        finally:
            tf.debugging.disable_check_numerics()

    return call


def callback(rng: random.Random, function: Function, play: Play) -> Function:
    def call(*arguments: Any) -> Any:
        def see(op_type: Any, inputs: Any, *_: Any, **__: Any) -> None:
            name = op_type.decode() if isinstance(op_type, bytes) else op_type
            play.seen.append(["op", name.rstrip("0123456789"), len(inputs)])  # functions end with a number of their own

        op_callbacks.add_op_callback(see)
        try:
            return function(*arguments)
        finally:
            op_callbacks.remove_op_callback(see)

    return call


def asynchronous(rng: random.Random, function: Function, play: Play) -> Function:
    play.exact = False

    def call(*arguments: Any) -> Any:
        if not tf.executing_eagerly():
            return function(*arguments)
        own = executor.new_executor(enable_async=True)
        try:
            with context.executor_scope(own):
                result = function(*arguments)
                tf.nest.map_structure(lambda value: value.numpy() if tf.is_tensor(value) else value, result)
            return result
        finally:
            with contextlib.suppress(tf.errors.OpError):
                own.wait()
            own.clear_error()  # which it would raise again when it is deleted

    return call


def thread(rng: random.Random, function: Function, play: Play) -> Function:
    def call(*arguments: Any) -> Any:
        if not tf.executing_eagerly():
            return function(*arguments)
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(function, *arguments).result()

    return call


def graph(rng: random.Random, function: Function, play: Play) -> Function:
    play.exact = False
    options = {"autograph": rng.random() < 0.8, "reduce_retracing": rng.random() < 0.3}
    captured = rng.random() < 0.3

    def call(*arguments: Any) -> Any:
        if captured:
            return tf.function(lambda: function(*arguments), **options)()
        return tf.function(lambda *given: function(*given), **options)(*arguments)

    return call


def run_eagerly(rng: random.Random, function: Function, play: Play) -> Function:
    def call(*arguments: Any) -> Any:
        before = tf.config.functions_run_eagerly()
        tf.config.run_functions_eagerly(True)
        try:
            return tf.function(lambda *given: function(*given))(*arguments)
        finally:
            tf.config.run_functions_eagerly(before)

    return call


def init_scope(rng: random.Random, function: Function, play: Play) -> Function:
    def call(*arguments: Any) -> Any:
        if not all(hasattr(value, "numpy") for value in arguments if tf.is_tensor(value)):
            return function(*arguments)  # symbolic tensors may not leave their graph
        with tf.init_scope():
            return function(*arguments)

    return call


def replaced(rng: random.Random, function: Function, play: Play) -> Function:
    owner, name, other = rng.choice([(tf, "tanh", tf.sigmoid), (tf, "exp", tf.identity), (tf.nn, "relu", tf.abs), (tf, "matmul", tf.add)])
    return scope(lambda: mock.patch.object(owner, name, other))(rng, function, play)


def rounding(rng: random.Random, function: Function, play: Play) -> Function:
    mode = rng.choice([0x400, 0x800, 0xC00]) if os.uname().machine == "x86_64" else rng.choice([0x400000, 0x800000, 0xC00000])
    libm = ctypes.CDLL("libm.so.6")

    def call(*arguments: Any) -> Any:
        if any(isinstance(value, float) for value in arguments):
            return function(*arguments)  # Python's own arithmetic follows the mode, and not every result is the same twice
        libm.fesetround(mode)
        try:
            result = function(*arguments)
            play.seen.append(["rounding", libm.fegetround()])
            return result
        finally:
            libm.fesetround(0)

    return call


def keras_layer(rng: random.Random, function: Function, play: Play) -> Function:
    play.exact = False

    def call(*arguments: Any) -> Any:
        class Layer(tf.keras.layers.Layer):
            def call(self, given: Any) -> Any:
                return function(*given)

        return Layer()(list(arguments))

    return call


def conditional(rng: random.Random, function: Function, play: Play) -> Function:
    def call(*arguments: Any) -> Any:
        if not tf.executing_eagerly():
            return function(*arguments)
        return tf.cond(tf.constant(True), lambda: function(*arguments), lambda: tf.constant(0))

    return call


LAYERS: dict[str, Layer] = {
    "tape": tape,
    "stopped tape": stopped,
    "accumulator": accumulator,
    "device": device,
    "name scope": scope(lambda: tf.name_scope("scope")),
    "control dependencies": scope(lambda: tf.control_dependencies(None)),
    "check_numerics": check_numerics,
    "op callback": callback,
    "async": asynchronous,
    "thread": thread,
    "tf.function": graph,
    "functions run eagerly": run_eagerly,
    "init_scope": init_scope,
    "replaced function": replaced,
    "rounding": rounding,
    "Keras layer": keras_layer,
    "tf.cond": conditional,
}


def played(seed: int, names: list[str], function: Function, arguments: list[Any]) -> Any:
    """What a call gives under the stack of layers, the first outermost."""
    pywrap_tfe.TFE_ClearScalarCache()
    play, rng = Play(), random.Random(seed)
    for name in reversed(names):
        function = LAYERS[name](rng, function, play)
    outcome = observed(function, *arguments)
    if outcome[0] == "error" and not play.exact:
        outcome = outcome[:2]
    return outcome, play.seen


@dataclass
class Covered:
    """What was tried."""

    calls: int = 0
    native: int = 0
    errors: int = 0
    again: int = 0  # calls that TensorFlow's own caches made differ at first
    layers: dict[str, int] = field(default_factory=dict)


def difference(mine: Any, theirs: Any, path: str = "") -> str:
    """The first place where two descriptions differ; "" where they don't."""
    if type(mine) is type(theirs) and isinstance(mine, list | tuple) and len(mine) == len(theirs):
        found = (difference(one, other, f"{path}[{index}]") for index, (one, other) in enumerate(zip(mine, theirs, strict=True)))
        return next((text for text in found if text), "")
    return "" if mine == theirs else f"at {path}: natif {str(mine)[:300]}, eager {str(theirs)[:300]}"


def compare(seed: int, number: int, function: Any, text: str, arguments: list[Any], covered: Covered) -> None:
    """Draws a stack and compares the function with its body. AssertionError with all that is needed to see it again."""
    rng = random.Random(seed * 1_000_003 + number)
    names = rng.sample(list(LAYERS), rng.randint(1, 4))
    stack_seed = rng.randrange(2**32)
    before = function.calls["native"]
    mine = played(stack_seed, names, function, arguments)
    covered.native += function.calls["native"] > before
    theirs = played(stack_seed, names, function.python, arguments)
    covered.calls += 1
    covered.errors += theirs[0][0] == "error"
    for name in names:
        covered.layers[name] = covered.layers.get(name, 0) + 1
    if mine != theirs:
        # The first call of some gradient functions traces graphs, which later ones find: ops that callbacks see once in a process.
        covered.again += 1
        mine, theirs = (played(stack_seed, names, form, arguments) for form in (function, function.python))
    if mine != theirs:
        shapes = [tuple(value.shape) if tf.is_tensor(value) else value for value in arguments]
        raise AssertionError(f"seed {seed}, call {number}, stack {names} ({stack_seed}), {shapes}\n{text}\n{difference(mine, theirs)}")


def made(seed: int, count: int, lane: str) -> tuple[Module, list[Any], dict[str, Any]]:
    """The functions of one source, and their native forms in a lane."""
    source, functions = program(seed, count)
    module = Module(f"situations_{lane}_{seed}", source)
    return module, functions, module.lane(lane, [function.name for function in functions])


def run_round(seed: int, functions: list[Any], native: dict[str, Any], covered: Covered, repeats: int = 1) -> None:
    """Compares each function with its body, `repeats` times."""
    rng = random.Random(seed)
    number = 0
    for function in functions:
        for arguments in calls(function, rng, repeats):
            compare(seed, number, native[function.name], function.text, arguments, covered)
            number += 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--lanes", default="graph,auto")
    options, _ = parser.parse_known_args()  # make fuzz passes what is for tests/fuzz/run.py alone, too
    covered, end, seed = Covered(), time.monotonic() + 60 * options.minutes, options.seed
    print(f"seed {seed}", flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        while time.monotonic() < end:
            for lane in options.lanes.split(","):
                _, functions, native = made(seed, 40, lane)
                run_round(seed, functions, native, covered, repeats=3)
            seed += 1
    print(f"{covered.calls:,} calls, {covered.native:,} native, {covered.errors:,} raised, {covered.again:,} tried again")
    print(f"by layer: {covered.layers}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
