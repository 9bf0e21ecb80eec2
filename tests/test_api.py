"""The public surface: what decorating, compiling, checking and reporting give."""

import importlib
import importlib.util
import json
import linecache
import os
import pickle
import sys
import textwrap
import warnings
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from api_programs import COSINE, HEAD, PROGRAM, RELU

import natif
from natif import hook, policy
from natif._runtime import NativeFunction

X = tf.constant(np.linspace(-2, 3, 15, dtype=np.float32).reshape(3, 5))


@pytest.fixture
def module_of(tmp_path, monkeypatch):
    """Makes an imported module of a program's text."""
    monkeypatch.syspath_prepend(str(tmp_path))
    names = []

    def make(text):
        name = f"api_program_{os.urandom(4).hex()}"
        names.append(name)
        (tmp_path / f"{name}.py").write_text(HEAD + textwrap.dedent(text))
        importlib.invalidate_caches()
        return importlib.import_module(name)

    yield make
    for name in names:
        sys.modules.pop(name, None)


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.numpy().tobytes() == b.numpy().tobytes()


def test_a_native_function(module_of):
    function = module_of(RELU).relu
    assert isinstance(function, NativeFunction)
    assert function.is_native
    assert function.calls == {"native": 0, "python": {}}
    assert same(function(X), function.python(X))
    assert same(function(x=X, s=0.5), function.python(X, 0.5))
    assert function.calls == {"native": 2, "python": {}}
    assert (function.__name__, function.__doc__, function.__wrapped__) == ("relu", "The doc.", function.python)
    assert pickle.loads(pickle.dumps(function)) is function


def test_its_report(module_of):
    report = module_of(RELU).relu.report
    assert report.is_native
    assert report.reason == ""
    relu, multiply = report.sites
    assert (relu.line, relu.column, relu.end_line, relu.end_column) == (8, 11, 8, 24)
    assert (relu.target, relu.outcome, relu.rule, relu.code, relu.message) == ("tf.nn.relu", "Claimed", "natif/Relu", "", "")
    assert multiply.target == "*"
    assert {site.lane for site in report.sites} <= {"fused", "tfe"}
    assert report.lane in ("fused", "tfe", "mixed")
    assert all(site.exact for site in report.sites)
    assert "relu is native" in str(report)


def test_its_texts(module_of):
    function = module_of(RELU).relu
    assert function.source("ir").startswith("func relu(")
    assert function.source("plan")
    assert "natif_module" in function.source("cpp")
    with pytest.raises(ValueError, match="'ir', 'plan' or 'cpp'"):
        function.source("asm")


def test_a_function_that_stays_python_is_itself(module_of):
    function = module_of(COSINE).cosine
    assert type(function).__name__ == "function"
    assert function.python is function
    assert not function.is_native
    assert same(function(X), tf.cos(X))
    (site,) = function.report.sites
    assert (site.outcome, site.code, site.target, site.lane) == ("NotCovered", "NTF-LANG-1", "tf.cos", "python")
    assert "line 7" in function.report.reason
    assert function.calls == {"native": 0, "python": {}}
    with pytest.raises(natif.CompileError, match="cosine stays Python"):
        function.source("ir")
    assert same(function.bind(x=X)(), tf.cos(X))
    with pytest.raises(TypeError, match="no parameter 'z'"):
        function.bind(z=X)


def test_bind(module_of):
    module = module_of("""
        @natif.native
        def affine(x: TensorF32Cpu2D, w: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
            return x @ w + b
    """)
    w, b = tf.ones((5, 4)) * 0.3, tf.constant([1.0, 2.0, 3.0, 4.0])
    bound = module.affine.bind(w=w, b=b)
    assert bound.is_native
    assert same(bound(X), module.affine.python(X, w, b))
    assert same(module.affine.bind(b=b)(X, w), bound(X))


def test_require(module_of):
    with pytest.raises(natif.CompileError, match=r"natif: cosine can't be native: line 7: tf.cos is no registered op.*NTF-LANG-1"):
        module_of(COSINE.replace("@natif.native", "@natif.native(require=True)"))
    assert module_of(RELU.replace("@natif.native", "@natif.native(require=True)")).relu.is_native


def test_lanes_give_the_same_bits(module_of):
    function = module_of(RELU).relu
    expected = function.python(X)
    for lane in ("auto", "tfe", "fused"):
        compiled = natif.compile(function, lane=lane)
        assert compiled.is_native
        assert same(compiled(X), expected)
        if lane != "auto":
            assert compiled.report.lane == lane


def test_lane_fused_with_an_op_without_a_kernel(module_of):
    module = module_of("""
        def nchw(x: TensorF32Cpu3D, b: TensorF32Cpu1D) -> TensorF32Cpu3D:
            return tf.nn.bias_add(x, b, data_format="NCHW")
    """)
    with pytest.raises(natif.CompileError, match=r"^natif: .*BiasAdd"):
        natif.compile(module.nchw, lane="fused")
    assert natif.compile(module.nchw).is_native


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"lane": "quick"}, ValueError, "lane is one of"),
        ({"numerics": 1}, ValueError, "numerics is one of"),
        ({"on_mismatch": "ignore"}, ValueError, "on_mismatch is one of"),
        ({"target": "z80"}, ValueError, "target is one of"),
        ({"require": 1}, TypeError, "require is True or False"),
        ({"speed": "high"}, TypeError, "no option 'speed'"),
    ],
)
def test_options_are_checked(options, error, text):
    with pytest.raises(error, match=f"natif: .*{text}"):
        natif.native(**options)
    with pytest.raises(error, match=f"natif: .*{text}"):
        natif.compile(test_options_are_checked, **options)


def test_on_mismatch(module_of):
    strict = module_of(RELU).relu
    with pytest.raises(ValueError, match="natif: expected a float32 tensor, got float64"):
        strict(tf.cast(X, tf.float64))
    lenient = module_of(RELU.replace("@natif.native", '@natif.native(on_mismatch="fallback")')).relu
    assert lenient(tf.cast(X, tf.float64)).dtype == tf.float64
    assert lenient.calls["python"] == {"mismatch": 1}


def test_compile_claims_undecorated_functions_and_builds_at_once(module_of):
    module = module_of("def double(x: TensorF32Cpu2D) -> TensorF32Cpu2D:\n    return x * 2\n")
    function = natif.compile(module.double)
    assert function.is_native
    assert type(module.double).__name__ == "function"
    assert same(function(X), X * 2)
    assert natif.compile(function).python is module.double


def test_methods_and_static_methods(module_of):
    module = module_of("""
        class Model:
            @staticmethod
            @natif.native
            def double(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
                return x * 2

            @natif.native
            def triple(self, x: TensorF32Cpu2D) -> TensorF32Cpu2D:
                return x * 3
    """)
    assert module.Model.double.is_native
    assert module.Model.double.__qualname__ == "Model.double"
    assert same(module.Model().double(X), X * 2)
    assert not module.Model.triple.is_native
    assert "parameter self has no annotation" in module.Model.triple.report.reason
    assert same(module.Model().triple(X), X * 3)


def test_functions_in_functions(module_of):
    module = module_of("""
        def make(k: int):
            @natif.native
            def free(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
                return x * 2

            @natif.native
            def closed(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
                return x * k

            return free, closed
    """)
    free, closed = module.make(3)
    assert free.is_native
    assert not closed.is_native
    assert "the name k belongs to an enclosing function" in closed.report.reason
    assert same(free(X), X * 2)
    assert same(closed(X), X * 3)
    assert module.make(4)[0].is_native


def test_two_functions_of_one_name(module_of):
    module = module_of("""
        @natif.native
        def f(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
            return x * 2
        first = f
        @natif.native
        def f(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
            return x * 3
    """)
    assert same(module.first(X), X * 2)
    assert same(module.f(X), X * 3)
    assert module.f.calls["native"] == module.first.calls["native"] == 1


def test_module_level_names_are_read_at_each_call(module_of):
    module = module_of("""
        SCALE = 2.5
        W: TensorF32Cpu2D = tf.ones((5, 2))

        @natif.native
        def f(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
            return x @ W * SCALE
    """)
    assert same(module.f(X), module.f.python(X))
    module.SCALE, module.W = -0.75, tf.ones((5, 3)) * 0.1
    assert same(module.f(X), module.f.python(X))
    assert module.f.calls == {"native": 2, "python": {}}
    module.SCALE = 2  # an int now: Python's own arithmetic
    assert same(module.f(X), module.f.python(X))
    del module.SCALE
    with pytest.raises(NameError):
        module.f(X)
    assert module.f.calls["python"] == {"rebound": 1, "missing_name": 1}


def test_names_that_were_compiled_in_are_checked_at_each_call(module_of):
    module = module_of("""
        AXIS = 1

        @natif.native
        def double(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
            return x * 2

        @natif.native
        def f(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
            return tf.reduce_sum(double(x), AXIS)
    """)
    assert same(module.f(X), tf.reduce_sum(X * 2, 1))
    module.AXIS = 0
    assert same(module.f(X), tf.reduce_sum(X * 2, 0))
    module.AXIS, module.double = 1, lambda x: x * 3
    assert same(module.f(X), tf.reduce_sum(X * 3, 1))
    assert module.f.calls == {"native": 1, "python": {"rebound": 2}}


def test_a_function_without_a_source_stays_python():
    namespace = {"natif": natif, "tf": tf, "__name__": "nowhere"}
    exec("@natif.native\ndef f(x: 'TensorF32Cpu2D'):\n    return x\n", namespace)
    function = namespace["f"]
    assert not function.is_native
    assert "its source can't be read" in function.report.reason
    (site,) = function.report.sites
    assert (site.outcome, site.code) == ("NotCovered", "NTF-SOURCE-1")
    with pytest.raises(natif.CompileError, match="its source can't be read"):
        natif.compile(function, require=True)


def test_a_file_that_changed_is_not_the_functions_source(tmp_path):
    path = tmp_path / "changing.py"
    path.write_text(HEAD + "def f(x: TensorF32Cpu2D) -> TensorF32Cpu2D:\n    return x * 2\n")
    spec = importlib.util.spec_from_file_location("changing", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    path.write_text(path.read_text().replace("* 2", "* 4"))
    os.utime(path, (1, 1))
    function = natif.compile(module.f)
    assert not function.is_native
    assert "the file has changed" in function.report.reason
    assert same(function(X), X * 2)


def test_other_callables_stay_what_they_are():
    graph_function = tf.function(lambda x: x)
    assert natif.native(graph_function) is graph_function
    with pytest.raises(natif.CompileError, match="no plain function"):
        natif.compile(graph_function, require=True)


def run_cell(session, text):
    session["In"].append(text)
    name = f"<cell-{len(session['In'])}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), session)


def test_notebook_cells():
    session = {"In": [""], "get_ipython": lambda: None, "__name__": "__main__"}
    run_cell(session, "import tensorflow as tf\nimport natif\nfrom natif.types import TensorF32Cpu2D\nAXIS = 0\n")
    session["In"].append("%magic that does not parse\n")
    run_cell(session, "@natif.native\ndef f(x: TensorF32Cpu2D) -> TensorF32Cpu2D:\n    return x * 2\n")
    run_cell(session, "@natif.native\ndef g(x: TensorF32Cpu2D):\n    return tf.reduce_sum(f(x), AXIS)\n")
    assert session["g"].is_native, session["g"].report
    assert same(session["g"](X), tf.reduce_sum(X * 2, 0))
    run_cell(session, "@natif.native\ndef f(x: TensorF32Cpu2D) -> TensorF32Cpu2D:\n    return x * 3\n")
    assert same(session["f"](X), X * 3)
    assert same(session["g"](X), tf.reduce_sum(X * 3, 0))
    assert session["g"].calls == {"native": 1, "python": {"rebound": 1}}


def test_nothing_around_a_function_switches_it_off(module_of):
    module = module_of("""
        "A docstring."
        import logging
        TABLE = {"a": [1, 2]}
        VARIABLE = tf.Variable([1.0])

        @tf.function
        def neighbour(x):
            return x

        class Other:
            pass

        @natif.native
        def f(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
            "Another docstring."
            return tf.nn.relu(x)

        for _ in range(2):
            logging.getLogger(__name__)

        if __name__ == "__main__":
            print(f(TABLE))
    """)
    assert module.f.is_native
    assert same(module.f(X), tf.nn.relu(X))


def test_check(tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    (package / "good.py").write_text(PROGRAM + "def plain(x):\n    return x\ndef typed(x: TensorF32Cpu1D):\n    return x\nimport nowhere\n")
    (package / "bad.py").write_text("def f(:\n")
    (package / "latin.py").write_bytes(b"# caf\xe9\n")
    (package / "notes.txt").write_text("not Python")
    report = natif.check(package)
    assert [function.name for function in report.functions] == ["relu", "cosine", "typed"]
    assert [function.is_native for function in report.functions] == [True, False, True]
    bad, latin = report.problems
    assert (bad.line, bad.code, bad.outcome, Path(bad.file).name) == (1, "NTF-SOURCE-2", "NotCovered", "bad.py")
    assert "does not parse" in bad.message
    assert Path(latin.file).name == "latin.py"
    assert not report.is_native
    assert all(site.message for site in report.sites if site.outcome != "Claimed")
    assert {site.lane for site in report.functions[0].sites} <= {"fused", "tfe"}
    assert str(report) == str(natif.check(package / "bad.py", package / "good.py", package / "latin.py"))
    with pytest.raises(FileNotFoundError, match="natif: there is no file or folder"):
        natif.check(tmp_path / "missing")


def test_install(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "hooked_program.py").write_text(
        "import tensorflow as tf\nfrom natif.types import TensorF32Cpu2D\n"
        "def double(x: TensorF32Cpu2D) -> TensorF32Cpu2D:\n    return x * 2\ndef plain(x):\n    return x\n"
    )
    try:
        natif.install()
        natif.install()
        import hooked_program
    finally:
        hook.uninstall()
    assert hooked_program.double.is_native, hooked_program.double.report
    assert not hasattr(hooked_program.plain, "is_native")
    assert same(hooked_program.double(X), X * 2)
    assert not any(type(finder).__module__ == "natif.hook" for finder in sys.meta_path)


def test_capabilities():
    manifest = natif.capabilities()
    assert json.loads(json.dumps(manifest)) == manifest
    rules = {rule["rule"]: rule for rule in manifest["rules"]}
    assert rules["natif/MatMul"]["operator"] == "@"
    assert [2, 2] in rules["natif/MatMul"]["ranks"]
    assert [1, 2] not in rules["natif/MatMul"]["ranks"]
    assert rules["natif/Relu"]["ranks"] == [[rank] for rank in range(7)]
    assert rules["natif/Relu"]["lanes"] == ["fused", "tfe"]
    for rule in manifest["rules"]:
        assert rule["forms"]
        assert rule["ranks"]
        assert rule["spellings"]


def test_every_cpu_rule_of_the_seed_is_covered():
    manifest = natif.capabilities()
    codes = {seed["code"] for rule in manifest["rules"] for seed in rule["seed_rules"]} | {manifest["fallback"]["code"]}
    # 034 to 038 are no codes of its CPU rules.
    assert sorted(codes) == [f"RXTP-TENSORFLOW-{number:03}" for number in range(1, 40) if not 34 <= number <= 38]


def test_a_warning_is_given_once(monkeypatch):
    monkeypatch.setattr(policy, "_told", set())
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        policy.warn("natif: once")
        policy.warn("natif: once")
    assert [str(warning.message) for warning in seen] == ["natif: once"]
    assert seen[0].filename == __file__
