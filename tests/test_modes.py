"""Processes of their own: modes, no compiler, compilers that fail or hang, environment variables, and what importing natif loads."""

import os
import re
import subprocess
import sys
import textwrap

import pytest
from api_programs import HEAD, PROGRAM, RELU


def in_process(script, **environment):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("NATIF_")}
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**clean, **environment},
        text=True,
        capture_output=True,
        check=False,
        timeout=120,
    )


def test_importing_natif_is_light():
    script = """
        import sys, time
        start = time.perf_counter()
        import natif, natif.types
        print(time.perf_counter() - start)
        loaded = {"tensorflow", "numpy", "natif._compiler", "natif._runtime", "subprocess", "hashlib"} & set(sys.modules)
        assert not loaded, loaded
    """
    result = in_process(script)
    assert result.returncode == 0, result.stderr


@pytest.fixture
def program(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    return f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import warnings, tensorflow as tf, natif\n"


def test_mode_python(program):
    script = program + "import program; f = program.relu\nassert not f.is_native and f.report.is_native and f(tf.ones((2, 2)))[0, 0] == 2\n"
    script += "assert 'natif._runtime' not in sys.modules\n"
    assert in_process(script, NATIF_MODE="python").returncode == 0


def test_an_unknown_mode_is_auto_with_a_warning(program):
    script = program + "with warnings.catch_warnings(record=True) as seen:\n  warnings.simplefilter('always')\n  import program\n"
    script += "assert program.relu.is_native\nassert [w.category for w in seen] == [RuntimeWarning]\nprint(seen[0].message)\n"
    result = in_process(script, NATIF_MODE="turbo")
    assert result.returncode == 0, result.stderr
    assert "NATIF_MODE is 'turbo'" in result.stdout


def test_no_compiler(program, tmp_path):
    script = program + "import program; f = program.relu\n"
    script += "with warnings.catch_warnings(record=True) as seen:\n  warnings.simplefilter('always')\n"
    script += "  for _ in range(3): result = f(tf.ones((2, 2)))\n"
    script += "assert result[0, 0] == 2 and not f.is_native and f.calls == {'native': 3, 'python': {}}, f.calls\n"
    script += "assert f.report.lane == 'evaluator' and not f.report.is_native and {s.lane for s in f.report.sites} == {'evaluator'}\n"
    script += "assert 'relu is interpreted: natif: NATIF_CXX' in str(f.report) and f.source('ir') and f.source('cpp')\n"
    script += "(warning,) = seen\nassert warning.category is RuntimeWarning\nprint(warning.message); print(f.report.reason)\n"
    script += "with tf.GradientTape() as tape:\n  x = tf.ones((2, 2)); tape.watch(x); y = f(x)\n"
    script += "assert tape.gradient(y, x)[0, 0] == 2 and f.calls['python'] == {'tape': 1}\n"
    script += "try: f(tf.ones(3))\nexcept ValueError as error: assert 'expected a rank-2 tensor, got rank 1' in str(error)\n"
    script += "else: raise SystemExit(1)\n"
    environment = {"NATIF_CXX": "no-such-compiler", "NATIF_CACHE_DIR": str(tmp_path / "cache")}
    result = in_process(script, **environment)
    assert result.returncode == 0, result.stderr
    warning, reason = result.stdout.splitlines()
    assert warning.startswith("natif: NATIF_CXX names no usable C++ compiler")
    assert warning.endswith("'relu' and the other functions that this concerns are interpreted, which is slower than native code")
    assert reason.startswith("natif: NATIF_CXX names no usable C++ compiler")
    strict = program + "import program\nprogram.relu(tf.ones((2, 2)))\n"
    result = in_process(strict, NATIF_MODE="native", **environment)
    assert result.returncode != 0
    assert "CompileError: natif: NATIF_CXX names no usable C++ compiler" in result.stderr
    at_once = program + "import program\nnatif.compile(program.relu, require=True)\n"
    assert "CompileError: natif: NATIF_CXX" in in_process(at_once, **environment).stderr
    quiet = program + "import program\nf = natif.compile(program.relu)\nassert not f.report.is_native and f(tf.ones((1, 2)))[0, 1] == 2\n"
    result = in_process(quiet, **environment)
    assert result.returncode == 0, result.stderr
    assert result.stderr.count("RuntimeWarning: natif: NATIF_CXX") == 1


def test_interpreted_functions_have_eagers_bits(tmp_path):
    (tmp_path / "program.py").write_text(
        HEAD
        + """
@natif.native
def f(x: TensorF32Cpu2D, w: TensorF32Cpu2D, n: int = 3) -> TensorF32Cpu2D:
    for i in range(n):
        x = tf.nn.softmax(tf.tanh(x @ w) * (i + 0.5)) + tf.reduce_mean(x, axis=1, keepdims=True)
        if i > 4:
            break
    return x
"""
    )
    script = f"""
        import sys, warnings; sys.path.insert(0, {str(tmp_path)!r}); warnings.simplefilter("ignore")
        import numpy as np, tensorflow as tf, program
        draw = lambda *shape: tf.constant(np.random.default_rng(shape).standard_normal(shape).astype(np.float32))
        for batch in (0, 1, 7, 33):
            for n in (0, 3, 9):
                x, w = draw(batch, 9), draw(9, 9)
                assert program.f(x, w, n).numpy().tobytes() == program.f.python(x, w, n).numpy().tobytes()
        assert program.f.calls == {{"native": 12, "python": {{}}}} and program.f.report.lane == "evaluator"
    """
    result = in_process(script, NATIF_CXX="no-such-compiler", NATIF_CACHE_DIR=str(tmp_path / "cache"))
    assert result.returncode == 0, result.stderr


def test_a_function_that_does_not_build_leaves_the_others_theirs(program, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM + RELU.replace("relu(x: ", "unlucky(x: ") + RELU.replace("relu(x: ", "third(x: "))
    compiler = tmp_path / "compiler"
    compiler.write_text("#!/bin/sh\nif grep -qs unlucky *.cpp; then echo 'error: unlucky' >&2; exit 1; fi\nexec c++ \"$@\"\n")
    compiler.chmod(0o755)
    environment = {"NATIF_CXX": str(compiler), "NATIF_CACHE_DIR": str(tmp_path / "cache")}
    script = program + "import program; x = tf.ones((2, 2))\n"
    script += "with warnings.catch_warnings(record=True) as seen:\n  warnings.simplefilter('always')\n"
    script += "  for f in (program.relu, program.unlucky, program.third): assert f(x)[0, 0] == 2\n"
    script += "assert program.relu.is_native and program.third.is_native and not program.unlucky.is_native\n"
    script += "assert program.relu.report.is_native and program.unlucky.report.lane == 'evaluator'\n"
    script += "(warning,) = seen\nassert 'error: unlucky' in str(warning.message) and \"'unlucky' and\" in str(warning.message)\n"
    result = in_process(script, **environment)
    assert result.returncode == 0, result.stderr
    strict = program + "import program; x = tf.ones((2, 2))\nassert program.relu(x)[0, 0] == 2\nprogram.unlucky(x)\n"
    result = in_process(strict, NATIF_MODE="native", **environment)
    assert "CompileError: natif: " in result.stderr
    assert "error: unlucky" in result.stderr


def test_a_compiler_that_hangs_on_one_function_costs_its_time_twice_at_most(program, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM + "".join(RELU.replace("relu(x: ", f"{name}(x: ") for name in ("unlucky", "third")))
    compiler = tmp_path / "compiler"
    compiler.write_text('#!/bin/sh\nif grep -qs unlucky *.cpp; then sleep 60; fi\nexec c++ "$@"\n')
    compiler.chmod(0o755)
    script = program + "import program, time; from natif import toolchain; toolchain.COMPILE_TIMEOUT = 20.0; x = tf.ones((2, 2))\n"
    script += "start = time.monotonic()\nwith warnings.catch_warnings(record=True) as seen:\n  warnings.simplefilter('always')\n"
    script += "  for f in (program.relu, program.unlucky, program.third): assert f(x)[0, 0] == 2\n"
    script += "taken = time.monotonic() - start\nassert 20 < taken < 40, taken\n"
    script += "assert [f.report.is_native for f in (program.relu, program.unlucky, program.third)] == [True, False, True]\n"
    script += "(warning,) = seen\nprint(warning.message)\n"
    result = in_process(script, NATIF_CXX=str(compiler), NATIF_CACHE_DIR=str(tmp_path / "cache"))
    assert result.returncode == 0, result.stderr
    seconds = re.search(r"did not finish within ([\d.]+) s and was killed", result.stdout)
    assert seconds
    assert 6 < float(seconds[1]) < 10


def test_empty_variables_count_as_unset(program, tmp_path):
    names = ("NATIF_MODE", "NATIF_CXX", "NATIF_NUM_THREADS", "NATIF_LOG", "NATIF_KEEP", "NATIF_CACHE_DIR", "NATIF_FORCE_RULES")
    script = program + "warnings.simplefilter('error')\nimport program\nassert program.relu(tf.ones((2, 2)))[0, 0] == 2\n"
    script += "assert program.relu.calls == {'native': 1, 'python': {}} and program.relu.report.is_native\n"
    script += "from natif import toolchain\nassert toolchain.find_compiler()\n"
    result = in_process(script, **dict.fromkeys(names, ""), XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert result.returncode == 0, result.stderr
    assert len(list((tmp_path / "cache" / "natif").glob("*.so"))) == 1
    result = in_process(script, NATIF_CXX=" ", NATIF_CACHE_DIR=str(tmp_path / "other"))
    assert "RuntimeWarning: natif: NATIF_CXX names no usable C++ compiler ( : not found)" in result.stderr


def test_building_does_not_initialise_the_eager_context(program):
    script = (
        program + "import program\nassert natif.compile(program.relu).is_native\ntf.config.threading.set_inter_op_parallelism_threads(1)\n"
    )
    result = in_process(script)
    assert result.returncode == 0, result.stderr


def test_check_imports_nothing(tmp_path):
    (tmp_path / "program.py").write_text("raise SystemExit(3)\n" + PROGRAM)
    script = f"import sys, natif\nreport = natif.check({str(tmp_path)!r})\n"
    script += "assert len(report.functions) == 2 and not {'tensorflow', 'program', 'numpy'} & set(sys.modules)\n"
    result = in_process(script)
    assert result.returncode == 0, result.stderr
