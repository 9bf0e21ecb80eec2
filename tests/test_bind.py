"""bind(): eager's bits for any batch, specialised and not; what is captured, shared, pickled, told; every way back to general code."""

import importlib
import inspect
import os
import pickle
import subprocess
import sys
import textwrap
import threading
import warnings

import numpy as np
import pytest
import tensorflow as tf

import natif
from natif import _runtime, variant

HEAD = "import tensorflow as tf\nimport natif\nfrom natif.types import *\n"
SCORE = """
@natif.native
def score(x: TensorF32Cpu2D, w1: TensorF32Cpu2D, b1: TensorF32Cpu1D, w2: TensorF32Cpu2D, b2: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return tf.nn.softmax(tf.nn.relu(x @ w1 + b1) @ w2 + b2)

@natif.native
def labels(x: TensorF32Cpu2D, *, w: TensorF32Cpu2D, scale: float = 2.0, times: int = 1) -> TensorI64Cpu1D:
    for _ in range(times):
        x = tf.tanh(x @ w) * scale
    return tf.argmax(x, axis=1)

def plain(x: TensorF32Cpu2D, w: TensorF32Cpu2D, /, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return tf.nn.relu(x @ w + b)

@natif.native
def cosine(x: TensorF32Cpu2D, s: TensorF32Cpu1D, p: float = 1.0) -> TensorF32Cpu2D:
    return tf.cos(x) * s + p

@natif.native
def fixed(x: TensorF32Cpu2D, w: Tensor["float32", (None, 4)]) -> TensorF32Cpu2D:
    return x @ w

@natif.native
def wide(x: TensorF32Cpu2D, w: TensorF32Cpu2D, b: TensorF32Cpu1D, turned: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.matmul(tf.nn.relu(x @ w + b), turned, transpose_b=True)

@natif.native
def narrow(x: TensorF32Cpu2D, w: TensorF32Cpu2D) -> Tensor["float32", (None, 4)]:
    return x @ w
"""
BATCHES = (0, 1, 7, 8, 128)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bind")
    name = f"bind_program_{os.urandom(4).hex()}"
    (folder / f"{name}.py").write_text(HEAD + SCORE)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    yield importlib.import_module(name)
    sys.path.remove(str(folder))
    sys.modules.pop(name)


def draw(*shape, seed=0):
    values = np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)
    if values.size > 8:
        values.reshape(-1)[[1, 3, 5, 7]] = -0.0, 1e-40, -3e-41, 40.0
    return tf.constant(values)


def weights(inner=9, hidden=12, classes=5, seed=0):
    shapes = {"w1": (inner, hidden), "b1": (hidden,), "w2": (hidden, classes), "b2": (classes,)}
    return {name: draw(*shape, seed=seed) for name, shape in shapes.items()}


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.numpy().tobytes() == b.numpy().tobytes()


@pytest.mark.parametrize("specialize", [True, False])
def test_eagers_bits(program, specialize):
    bound_to = weights()
    function = natif.compile(program.score, specialize=specialize)
    bound = function.bind(**bound_to)
    for batch in BATCHES:
        x = draw(batch, 9)
        assert same(bound(x), function.python(x, **bound_to))
    assert bound.calls == {"native": len(BATCHES), "python": {}}
    assert str(inspect.signature(bound)) == "(x: natif.types.TensorF32Cpu2D) -> natif.types.TensorF32Cpu2D"
    head = bound.source("plan").splitlines()[0]
    if specialize:
        assert head == "bound: specialised for b1[12], b2[5], w1[9, 12], w2[12, 5]"
        assert "f32[9,12]" in bound.source("ir")
        assert "f32[9,12]" not in function.source("ir")
        assert bound.source("cpp") != function.source("cpp")
    else:
        assert head == "bound: code for any size, since specialize is False"
        assert bound.source("ir") == function.source("ir")
    (report,) = bound.report.functions
    assert f"bound: {report.bound}" == head
    assert head in str(bound.report)
    assert bound.report.is_native
    assert function.report.functions[0].bound == ""


def test_wide_weights_are_packed_once_for_each_function(program):
    """Laid out anew at the first call, from each function's own weights; where the rows are few eager's order needs them as they lie."""
    rng = np.random.default_rng(5)
    draw = lambda *shape: tf.constant(rng.standard_normal(shape).astype(np.float32))  # noqa: E731
    weights = [{"w": draw(70, 515), "b": draw(515), "turned": draw(33, 515)} for _ in range(2)]
    bound = [program.wide.bind(**given) for given in weights]
    for batch in (17, 0, 1, 2, 15, 16, 130, 17):
        x = draw(batch, 70)
        for function, given in zip(bound, weights, strict=True):
            assert function(x).numpy().tobytes() == program.wide.python(x, **given).numpy().tobytes(), batch
    plan = bound[0].source("plan")
    assert "w packed once" in plan
    assert "turned packed once" in plan
    assert "packed" not in program.wide.source("plan")
    assert [function.calls["native"] for function in bound] == [8, 8]


def test_without_memory_for_packed_weights_the_ops_run(program):
    rng = np.random.default_rng(7)
    given = {"w": tf.constant(rng.standard_normal((9, 600)).astype(np.float32)), "b": tf.ones(600), "turned": tf.ones((5, 600))}
    x = tf.constant(rng.standard_normal((40, 9)).astype(np.float32))
    bound, expected = program.wide.bind(**given), program.wide.python(x, **given).numpy().tobytes()
    try:
        _runtime.inject_fault("keep")
        assert bound(x).numpy().tobytes() == expected
    finally:
        _runtime.inject_fault(None)
    assert bound(x).numpy().tobytes() == expected
    assert bound.calls == {"native": 2, "python": {}}


def test_threads_that_meet_at_the_first_call_pack_once(program):
    rng = np.random.default_rng(6)
    given = {
        "w": tf.constant(rng.standard_normal((64, 512)).astype(np.float32)),
        "b": tf.zeros(512),
        "turned": tf.constant(rng.standard_normal((20, 512)).astype(np.float32)),
    }
    x = tf.constant(rng.standard_normal((100, 64)).astype(np.float32))
    bound, expected = program.wide.bind(**given), program.wide.python(x, **given).numpy().tobytes()
    found = []
    threads = [threading.Thread(target=lambda: found.append(bound(x).numpy().tobytes() == expected)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 8


def test_an_argument_that_does_not_fit_the_bound_sizes_is_eagers_error(program):
    bound = program.score.bind(**weights())
    with pytest.raises(tf.errors.InvalidArgumentError):
        bound(draw(3, 8))


def test_equal_sizes_share_code_and_others_get_their_own(program):
    function = natif.compile(program.score, lane="fused")
    one, two, other = (function.bind(**weights(seed=1)), function.bind(**weights(seed=2)), function.bind(**weights(hidden=13)))
    x = draw(7, 9)
    for bound, bound_to in ((one, weights(seed=1)), (two, weights(seed=2)), (other, weights(hidden=13))):
        assert same(bound(x), function.python(x, **bound_to))
    assert one.provider is two.provider
    assert one.provider.artifact("score") is two.provider.artifact("score")
    assert other.provider.artifact("score").path != one.provider.artifact("score").path


def test_only_so_many_sizes_get_code(program, monkeypatch):
    monkeypatch.setattr(variant, "MOST_VARIANTS", 1)
    function = natif.compile(program.score, numerics="fast")
    x = draw(1, 9)
    first, second = function.bind(b2=draw(5)), function.bind(b2=draw(6))
    assert first.report.functions[0].bound == "specialised for b2[5]"
    assert second.report.functions[0].bound == "code for any size, since there is code for 1 other sets of sizes"
    assert second(x, *list(weights(classes=6).values())[:3]).shape == (1, 6)


def test_binding_in_steps(program):
    bound_to = weights()
    x = draw(7, 9)
    half = program.score.bind(w1=bound_to["w1"], b2=bound_to["b2"])
    assert same(half(x, bound_to["b1"], bound_to["w2"]), program.score.python(x, **bound_to))
    whole = half.bind(w2=bound_to["w2"]).bind(b1=bound_to["b1"])
    assert same(whole(x), program.score.python(x, **bound_to))
    assert whole.provider is program.score.bind(**bound_to).provider
    with pytest.raises(TypeError, match=r"natif: the parameter 'w1' of score\(\) is bound already"):
        half.bind(w1=bound_to["w1"])


def test_numbers(program):
    x, w = draw(8, 6), draw(6, 6)
    bound = program.labels.bind(w=w, times=3, scale=np.float32(0.5))
    assert same(bound(x), program.labels.python(x, w=w, times=3, scale=0.5))
    assert bound.calls["native"] == 1
    assert program.labels.bind(times=2).report.functions[0].bound == "code for any size, since no tensor with sizes is bound"
    with pytest.raises(TypeError):
        program.labels.bind(times=1.5)(x, w=w)


@pytest.mark.parametrize("name", ["score", "cosine"])
@pytest.mark.parametrize("value", [np.zeros((9, 12), np.float32), [1.0], None, "text", tf.ragged.constant([[1.0], []])])
def test_what_can_not_be_bound(program, name, value):
    function = getattr(program, name)
    parameter = "b1" if name == "score" else "s"
    with pytest.raises(
        TypeError, match=f"natif: expected a TensorFlow EagerTensor, a Variable or a number to bind as the .* '{parameter}'"
    ):
        function.bind(**{parameter: value})
    with pytest.raises(TypeError, match=rf"natif: {name}\(\) has no parameter 'z' to bind"):
        function.bind(z=draw(3))


def test_a_bound_tensor_that_does_not_fit(program):
    bound = program.score.bind(**{**weights(), "b1": draw(12, 1)})
    assert bound.report.functions[0].bound.startswith("code for any size, since score can't be specialised for b1 of the sizes f32[12,1]")
    with pytest.raises(ValueError, match="natif: expected a rank-1 tensor, got rank 2"):
        bound(draw(3, 9))
    assert "it is annotated as f32[?,4]" in program.fixed.bind(w=draw(3, 5)).report.functions[0].bound


def test_sizes_that_can_not_work_are_eagers_error(program):
    bound = program.score.bind(**{**weights(), "w2": draw(11, 5)})
    with pytest.raises(tf.errors.InvalidArgumentError):
        bound(draw(3, 9))


def test_sizes_with_which_the_function_is_not_native(program):
    bound = program.narrow.bind(w=draw(9, 5))
    assert bound.report.functions[0].bound.startswith("code for any size, since it is not native with w[9, 5]: line "), bound.report
    assert program.narrow.bind(w=draw(9, 4)).report.functions[0].bound == "specialised for w[9, 4]"


def test_a_variable_is_read_once(program):
    bound_to = weights()
    variable = tf.Variable(bound_to["w1"])
    bound = program.score.bind(**{**bound_to, "w1": variable})
    x = draw(7, 9)
    expected = program.score.python(x, **bound_to)
    variable.assign_add(tf.ones((9, 12)))
    assert same(bound(x), expected)
    variable.assign(tf.zeros((9, 12)))
    variable[0, 0].assign(5.0)
    assert same(bound(x), expected)
    assert not same(program.score.bind(**{**bound_to, "w1": variable})(x), expected)


def test_a_tape_that_watches_a_bound_tensor_records_the_body(program):
    bound_to = weights()
    bound = program.score.bind(**bound_to)
    x = draw(7, 9)

    def gradient(function, *arguments):
        with tf.GradientTape() as tape:
            tape.watch(bound_to["w1"])
            result = function(*arguments)
        return tape.gradient(result, bound_to["w1"])

    expected = gradient(lambda: program.score.python(x, **bound_to))
    assert same(gradient(bound, x), expected)
    assert bound.calls["python"] == {"tape": 1}
    with tf.GradientTape():
        bound(x)
    assert bound.calls["native"] == 1


def test_pickling(program):
    bound_to = weights()
    x = draw(7, 9)
    bound = program.score.bind(**bound_to)
    again = pickle.loads(pickle.dumps(bound))
    assert same(again(x), bound(x))
    assert again.provider is bound.provider
    assert again.options["origin"].function is program.score
    other = natif.compile(program.score, lane="tfe", on_mismatch="fallback").bind(**bound_to)
    again = pickle.loads(pickle.dumps(other))
    assert (again.options["lane"], again.options["on_mismatch"]) == ("tfe", "fallback")
    assert same(again(x), bound(x))
    undecorated = pickle.loads(pickle.dumps(natif.compile(program.plain).bind(b=draw(4))))
    assert same(undecorated(x, draw(9, 4)), program.plain(x, draw(9, 4), draw(4)))


def test_pickling_what_has_no_name():
    @natif.native
    def local(x: "natif.types.TensorF32Cpu2D", y: "natif.types.TensorF32Cpu2D"):
        return x

    with pytest.raises(pickle.PicklingError, match="natif: can't pickle what bind"):
        pickle.dumps(local.bind(y=draw(1, 1)))


def test_a_function_that_stays_python(program):
    x, s = draw(3, 4), tf.Variable(draw(4))
    bound = program.cosine.bind(s=s, p=3.0)
    expected = tf.cos(x) * s + 3.0
    s.assign(tf.zeros(4))
    assert not bound.is_native
    assert same(bound(x), expected)
    assert same(bound(x=x), expected)
    assert same(tf.function(bound)(x), expected)
    assert same(program.cosine.bind(p=0.0).bind(s=draw(4))(x), tf.cos(x) * draw(4))
    assert str(inspect.signature(program.cosine.bind(s=draw(4)))).startswith("(x: natif.types.TensorF32Cpu2D, p: float = 1.0)")
    assert same(program.cosine.bind(s=draw(4))(x), tf.cos(x) * draw(4) + 1.0)
    assert same(pickle.loads(pickle.dumps(bound))(x), expected)
    with pytest.raises(TypeError, match="is bound already"):
        bound.bind(p=1.0)
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        bound()
    with pytest.raises(natif.CompileError, match="cosine stays Python"):
        bound.source("ir")


def test_positional_only_parameters(program):
    x, w, b = draw(3, 9), draw(9, 4), draw(4)
    bound = natif.compile(program.plain).bind(w=w)
    assert same(bound(x, b), program.plain(x, w, b))
    assert bound.calls["native"] == 1


def test_in_graphs(program):
    bound_to = weights()
    x = draw(7, 9)
    bound = program.score.bind(**bound_to)
    tf.debugging.assert_near(tf.function(bound)(x), bound(x))

    @tf.function
    def binding(x, w1):
        return program.score.bind(**{**bound_to, "w1": w1})(x)

    tf.debugging.assert_near(binding(x, bound_to["w1"]), bound(x))


def test_threads_that_bind_and_call_at_once(program):
    function = natif.compile(program.score, lane="fused", on_mismatch="fallback")
    bound_to = weights(hidden=17)
    x = draw(7, 9)
    expected = function.python(x, **bound_to)
    barrier = threading.Barrier(6)
    failures = []

    def work():
        barrier.wait()
        for _ in range(20):
            if not same(function.bind(**bound_to)(x), expected):
                failures.append("another result")

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_specialised_code_that_can_not_be_built(program, monkeypatch):
    from natif.program import Program

    build = Program.build

    def broken(self, entries):
        if entries[0].specialized is not None:
            raise natif.CompileError("natif: g++ failed: a test")
        build(self, entries)

    monkeypatch.setattr(Program, "build", broken)
    bound_to = weights(hidden=19)
    bound = program.score.bind(**bound_to)
    x = draw(7, 9)
    with pytest.warns(RuntimeWarning, match="natif: g.. failed: a test; the bound 'score' runs its code for any size"):
        result = bound(x)
    assert same(result, program.score.python(x, **bound_to))
    assert bound.calls == {"native": 1, "python": {}}
    assert bound.report.functions[0].bound == "code for any size, since g++ failed: a test"
    assert bound.source("plan").startswith("bound: code for any size")


def test_without_a_compiler(tmp_path):
    (tmp_path / "program.py").write_text(HEAD + SCORE)
    script = textwrap.dedent(f"""
        import sys, warnings
        sys.path.insert(0, {str(tmp_path)!r})
        import tensorflow as tf, program
        x, w = tf.ones((3, 4)), tf.ones((4, 4))
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            bound = program.labels.bind(w=w, scale=0.5)
            result = bound(x)
        assert result.numpy().tolist() == program.labels.python(x, w=w, scale=0.5).numpy().tolist()
        (warning,) = seen
        assert "NATIF_CXX names no usable C++ compiler" in str(warning.message), warning
        assert "code for any size, since NATIF_CXX names no usable" in bound.report.functions[0].bound
        assert bound.report.lane == "evaluator" and not bound.is_native, bound.report
    """)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("NATIF_")}
    environment = {**clean, "NATIF_CXX": "no-such-compiler", "NATIF_CACHE_DIR": str(tmp_path / "cache")}
    result = subprocess.run([sys.executable, "-c", script], env=environment, text=True, capture_output=True, check=False, timeout=120)
    assert result.returncode == 0, result.stderr


def test_binding_is_quiet(program):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bound = program.score.bind(**weights(seed=5))
        assert bound(draw(2, 9)).shape == (2, 5)
