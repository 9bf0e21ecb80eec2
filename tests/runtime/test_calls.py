"""Calling native functions: arguments, results, defaults, numbers, hidden inputs, and the function's Python side."""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import sys
import types
import weakref
from typing import Any

import bodies
import numpy as np
import pytest
import tensorflow as tf
from support import Provider, artifact, native

from natif import _runtime


def same_bits(mine: tf.Tensor, theirs: tf.Tensor) -> bool:
    """Whether two float32 tensors are equal bit by bit."""
    a, b = mine.numpy(), theirs.numpy()
    return a.shape == b.shape and a.dtype == b.dtype and np.array_equal(a.view(np.int32), b.view(np.int32))


def test_a_parameter_comes_back_as_the_same_object(x: tf.Tensor) -> None:
    function = native(bodies.identity)
    assert function(x) is x
    assert function.calls == {"native": 1, "python": {}}


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (1, 1), (7, 9), (64, 33)])
def test_a_kernel_of_the_artifacts_own(shape: tuple[int, int]) -> None:
    left, right = (tf.random.normal(shape) for _ in range(2))
    assert same_bits(native(bodies.add)(left, right), left + right)


def test_operations_of_tensorflow(x: tf.Tensor, w: tf.Tensor, b: tf.Tensor) -> None:
    function = native(bodies.dense)
    for _ in range(5):  # the first call makes the operations, later ones use them again
        assert same_bits(function(x, w, b), bodies.dense(x, w, b))
    assert function.calls["native"] == 5


def test_constants_scalars_and_results_that_are_read(x: tf.Tensor) -> None:
    assert same_bits(native(bodies.total)(x), bodies.total(x))
    assert same_bits(native(bodies.scale)(x, 0.1), bodies.scale(x, 0.1))


def test_several_results_keep_their_identity(x: tf.Tensor) -> None:
    first, second, third = native(bodies.several)(x)
    assert first is x
    assert second is third
    assert same_bits(second, x + x)


def test_no_result() -> None:
    assert native(bodies.nothing)() is None


def test_results_are_ordinary_tensors(x: tf.Tensor) -> None:
    result = native(bodies.add)(x, x)
    assert type(result) is type(x)
    assert result.device == x.device
    assert same_bits(tf.nn.relu(result) * 2, tf.nn.relu(x + x) * 2)


def test_arguments_bind_as_python_binds_them(x: tf.Tensor, w: tf.Tensor, b: tf.Tensor) -> None:
    function = native(bodies.dense)
    expected = bodies.dense(x, w, b)
    assert same_bits(function(x, b=b, w=w), expected)
    assert same_bits(function(b=b, x=x, w=w), expected)
    numbers = native(bodies.numbers)
    assert numbers(3) == (6, 0.5, True)
    assert numbers(3, b=True) == (6, 0.5, False)
    assert numbers(n=3, f=4.0, b=True) == (6, 2.0, False)


def test_defaults_are_read_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    def numbers(n: int, f: float = 1.0, *, b: bool = False) -> Any:
        return n * 2, f / 2, not b

    numbers.__qualname__ = "numbers"
    function = native(numbers)
    assert function(1) == (2, 0.5, True)
    numbers.__defaults__ = (5.0,)
    numbers.__kwdefaults__ = {"b": True}
    assert function(1) == (2, 2.5, False)
    assert function.calls == {"native": 2, "python": {}}


WRONG_ARGUMENTS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}),
    ((1, 2.0, True), {}),
    ((1,), {"n": 2}),
    ((1,), {"z": 2}),
    ((), {"f": 1.0}),
]


@pytest.mark.parametrize(("args", "keywords"), WRONG_ARGUMENTS)
def test_wrong_arguments_give_pythons_own_error(args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
    with pytest.raises(TypeError) as expected:
        bodies.numbers(*args, **keywords)
    with pytest.raises(TypeError) as raised:
        native(bodies.numbers)(*args, **keywords)
    assert str(raised.value) == str(expected.value)


class Index:
    """Has __index__ and nothing else."""

    def __index__(self) -> int:
        return 21


INTEGERS = [0, -1, 21, 2**62 - 1, -(2**62), True, np.int8(-3), np.int64(5), np.uint64(2**40), np.array(7), Index()]


@pytest.mark.parametrize("value", INTEGERS, ids=repr)
def test_integers(value: Any) -> None:
    result = native(bodies.numbers)(value)[0]
    assert result == 2 * value.__index__()
    assert type(result) is int


@pytest.mark.parametrize("value", [1.5, 2.0, np.float32(1), "1", None, [1], tf.constant(1)], ids=repr)
def test_no_integers(value: Any) -> None:
    with pytest.raises(TypeError, match="^natif: expected an int, got .* for 'n' of numbers()"):
        native(bodies.numbers)(value)


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 10**30])
def test_integers_beyond_64_bits(value: int) -> None:
    with pytest.raises(OverflowError, match="^natif: "):
        native(bodies.numbers)(value)


@pytest.mark.parametrize("value", [0.5, -0.0, float("inf"), 3, np.float32(0.1), np.float64(1e300), np.int32(4), np.array(2.5)], ids=repr)
def test_floats(value: Any) -> None:
    result = native(bodies.numbers)(1, value)[1]
    assert result == float(value) / 2
    assert type(result) is float


@pytest.mark.parametrize("value", ["1", None, 1j, tf.constant(1.0), tf.Variable(1.0)], ids=lambda v: type(v).__name__)
def test_no_floats(value: Any) -> None:
    with pytest.raises(TypeError, match="^natif: expected a float, got .* for 'f' of numbers()"):
        native(bodies.numbers)(1, value)


@pytest.mark.parametrize("value", [True, False, np.bool_(True), np.bool_(False)])
def test_bools(value: Any) -> None:
    assert native(bodies.numbers)(1, b=value)[2] is (not value)


@pytest.mark.parametrize("value", [1, 0, None, "", np.int8(1), tf.constant(True)], ids=repr)
def test_no_bools(value: Any) -> None:
    with pytest.raises(TypeError, match="^natif: expected a bool, got .* for 'b' of numbers()"):
        native(bodies.numbers)(1, b=value)


def test_a_value_whose_index_raises() -> None:
    class Broken:
        def __index__(self) -> int:
            raise LookupError("no number today")

    with pytest.raises(LookupError, match="no number today"):
        native(bodies.numbers)(Broken())


def test_hidden_inputs_are_read_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    function = native(bodies.add_offset)
    zeros = tf.zeros((2, 2))
    assert same_bits(function(zeros), bodies.OFFSET)
    monkeypatch.setattr(bodies, "OFFSET", tf.constant([[9.0, 8.0], [7.0, 6.0]]))
    assert same_bits(function(zeros), tf.constant([[9.0, 8.0], [7.0, 6.0]]))
    monkeypatch.setattr(bodies, "OFFSET", np.zeros((2, 2), np.float32))
    with pytest.raises(TypeError, match="the module-level name 'OFFSET' of add_offset"):
        function(zeros)
    monkeypatch.delattr(bodies, "OFFSET")
    with pytest.raises(NameError, match="OFFSET"):
        function(zeros)
    assert function.calls["python"] == {"missing_name": 1}


# ---- standing in for the function ----


def test_it_looks_like_the_function() -> None:
    function = native(bodies.numbers)
    assert (function.__name__, function.__qualname__, function.__module__) == ("numbers", "numbers", "bodies")
    assert function.__wrapped__ is function.python is bodies.numbers
    assert function.__annotations__ is bodies.numbers.__annotations__
    assert (function.__defaults__, function.__kwdefaults__) == ((1.0,), {"b": False})
    assert inspect.signature(function) == inspect.signature(bodies.numbers)
    assert native(bodies.identity).__doc__ == "Gives x back."
    assert repr(function).startswith("<native function numbers at 0x")
    assert callable(function)
    function.note = "kept"
    assert function.note == "kept"


def test_it_is_a_method_in_a_class(x: tf.Tensor, w: tf.Tensor, b: tf.Tensor) -> None:
    model = type("Holder", (), {"method": native(bodies.identity), "free": staticmethod(native(bodies.identity))})()
    assert isinstance(model.method, types.MethodType)
    assert model.free(x) is x
    with pytest.raises(TypeError, match="expected a TensorFlow EagerTensor, got .*Holder"):
        model.method()
    assert native(bodies.Model.method)(x, w, b).shape == (3, 2)


def test_pickle_and_copy(monkeypatch: pytest.MonkeyPatch, x: tf.Tensor) -> None:
    function = native(bodies.identity)
    monkeypatch.setattr(bodies, "identity", function)
    assert pickle.loads(pickle.dumps(function)) is function
    assert copy.copy(function) is function
    assert copy.deepcopy([function])[0] is function


def test_bound_functions(monkeypatch: pytest.MonkeyPatch, x: tf.Tensor, w: tf.Tensor, b: tf.Tensor) -> None:
    function = native(bodies.dense)
    bound = function.bind(w=w, b=b)
    assert same_bits(bound(x), bodies.dense(x, w, b))
    assert same_bits(function.bind(w=w)(x, b), bodies.dense(x, w, b))
    assert str(inspect.signature(bound)) == "(x)"
    assert bound.calls == {"native": 1, "python": {}}
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        bound()
    with pytest.raises(TypeError, match="too many positional arguments"):
        bound(x, w)
    with tf.GradientTape() as tape:
        tape.watch(w)
        result = bound(x)
    assert bound.calls["python"] == {"tape": 1}
    assert tape.gradient(result, w) is not None
    monkeypatch.setattr(bodies, "dense", function)
    again = pickle.loads(pickle.dumps(bound))
    assert same_bits(again(x), bodies.dense.python(x, w, b))
    with pytest.raises(TypeError, match="by parameter name only"):
        function.bind(w)


def test_weak_references_and_cycles() -> None:
    def identity(x: tf.Tensor) -> tf.Tensor:
        return x

    identity.__qualname__ = "identity"
    function = native(identity)
    function.itself = function
    gone = weakref.ref(function)
    del function
    gc.collect()
    assert gone() is None


def test_it_can_not_be_subclassed_or_made_of_other_things() -> None:
    with pytest.raises(TypeError):
        type("Sub", (_runtime.NativeFunction,), {})
    with pytest.raises(TypeError):
        _runtime.NativeFunction(print, Provider({}), "print", {})
    with pytest.raises(ValueError, match='natif: mode must be "auto", "native" or "python"'):
        native(bodies.identity, mode="fast")
    with pytest.raises(ValueError, match="natif: on_mismatch must be"):
        native(bodies.identity, on_mismatch="ignore")


def test_the_provider_describes_it() -> None:
    function = native(bodies.identity, lane="fused")
    assert function.report == "report of identity"
    assert function.source("ir") == "ir of identity"
    assert function.options == {"lane": "fused"}


def test_references_are_balanced(x: tf.Tensor, w: tf.Tensor, b: tf.Tensor) -> None:
    functions = [native(bodies.identity), native(bodies.dense), native(bodies.several)]
    tensors = (x, w, b)

    def counts() -> list[int]:
        return [sys.getrefcount(t) for t in tensors]

    def work() -> None:
        functions[0](x)
        functions[1](x, w, b)
        functions[2](x)
        for wrong in (w, b):
            with pytest.raises((ValueError, tf.errors.OpError)):
                functions[1](x, x, wrong)

    work()
    gc.collect()
    before = counts()
    for _ in range(50):
        work()
    gc.collect()
    assert counts() == before


def test_artifacts() -> None:
    loaded = artifact()
    assert (loaded.name, loaded.source_file) == ("bodies", "bodies.py")
    assert "dense" in loaded.functions
    assert loaded.rules == ("exp", "matmul")
    assert loaded.level
