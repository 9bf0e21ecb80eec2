"""init, generate, build, clean, capabilities, run and explain, and how every command refuses."""

import json
import os
import signal
import subprocess
import sys
import time
import tomllib
import zipfile

import pytest

PLAIN = """
    import natif

    @natif.native
    def half(x: float) -> float:
        return x / 2.0
"""


def test_init_writes_adds_and_never_overwrites(natif, folder, write):
    write("src/shop/__init__.py", "")
    code, said, _ = natif("init")
    assert (code, said) == (0, f"wrote {folder}/pyproject.toml\n")
    content = tomllib.loads((folder / "pyproject.toml").read_text())
    assert content["build-system"]["build-backend"] == "natif.buildapi"
    assert content["tool"]["natif"] == {"paths": ["src"]}
    before = (folder / "pyproject.toml").read_bytes()
    assert natif("init") == (0, f"{folder}/pyproject.toml has [tool.natif] already; it is left as it is\n", "")
    assert (folder / "pyproject.toml").read_bytes() == before
    (folder / "pyproject.toml").write_bytes(b"[project]\r\nname = 'x'")
    assert natif("init")[:2] == (0, f"added [tool.natif] to {folder}/pyproject.toml\n")
    after = (folder / "pyproject.toml").read_bytes()
    assert after.startswith(b"[project]\r\nname = 'x'\r\n\r\n# natif")
    assert b"\n" not in after.replace(b"\r\n", b"")
    assert tomllib.loads(after.decode())["project"]["name"] == "x"
    write("pyproject.toml", "[tool.natif\n")
    code, _, errors = natif("init")
    assert (code, errors.count("\n")) == (2, 1)
    assert errors.startswith(f"natif: {folder}/pyproject.toml can't be read: ")
    assert (folder / "pyproject.toml").read_text() == "[tool.natif\n"


def test_generate_writes_the_cpp_and_compiles_nothing(natif, package, folder, monkeypatch):
    package.write_text(PLAIN.replace("    ", "", 1).replace("\n    ", "\n"))
    monkeypatch.setenv("NATIF_CXX", "/nonexistent")
    code, said, errors = natif("generate", "--target", "x86-64-v3")
    assert (code, errors) == (0, "")
    assert said.splitlines() == ["1 native function", "  build/natif/small"]
    tree = folder / "build" / "natif" / "small"
    assert "exported_module" in (tree / "_natif" / "small.scoring" / "module.cpp").read_text()
    assert not list(tree.rglob("*.so"))
    assert (tree / "scoring.py").read_bytes() == package.read_bytes()
    assert natif("clean")[1] == f"removed {5 + 1} files from build/natif\n"
    assert not tree.exists()


def test_build_writes_a_package_and_a_wheel_and_says_when_nothing_is_to_do(natif, package, write, folder):
    write("small/scoring.py", PLAIN)
    code, said, errors = natif("build", "--target", "x86-64-v3")
    assert (code, errors) == (0, "[1/1] small.scoring\n")
    assert said.splitlines()[:2] == ["1 native function", "  dist/small"]
    (wheel,) = (folder / "dist").glob("*.whl")
    assert zipfile.ZipFile(wheel).testzip() is None
    assert natif("build", "--target", "x86-64-v3")[1].startswith("up to date, nothing to do: 1 native function\n")
    state = wheel.stat()
    write("small/scoring.py", PLAIN.replace("2.0", "4.0"))
    assert natif("build", "--target", "x86-64-v3")[1].startswith("1 native function\n")
    assert wheel.stat().st_ino != state.st_ino
    wheel.write_bytes(b"damaged")
    assert natif("build", "--target", "x86-64-v3")[1].startswith("1 native function\n")
    assert zipfile.ZipFile(wheel).testzip() is None
    code, said, _ = natif("clean")
    assert (code, (folder / "dist").exists()) == (0, False)


def test_a_build_without_changes_takes_at_most_half_a_second(natif, natif_process, package, write):
    """The processor's time counts, since other work may share the machine."""
    for number in range(40):
        write(f"small/part{number}.py", "def f(x):\n    return x\n" * 100)
    write("small/scoring.py", PLAIN)
    assert natif("build", "--target", "x86-64-v3")[0] == 0
    before, begin = os.times(), time.perf_counter()
    done = natif_process("build", "--target", "x86-64-v3")
    elapsed, after = time.perf_counter() - begin, os.times()
    assert done.stdout.startswith("up to date"), done.stderr
    used = after.children_user + after.children_system - before.children_user - before.children_system
    print(f"natif build without changes: {used:.2f} s of processor time, {elapsed:.2f} s elapsed")
    assert used < 0.5


def test_clean_all_empties_the_cache(natif, package, write, cache):
    write("small/scoring.py", PLAIN)
    assert natif("build", "--target", "x86-64-v3")[0] == 0
    assert list(cache.glob("*.so"))
    code, said, _ = natif("clean", "--all")
    assert code == 0
    assert f"emptied the cache {cache}: " in said
    assert not list(cache.glob("*.so"))


def test_command_line_over_environment_over_pyproject(natif, package, write, folder, monkeypatch):
    write("small/scoring.py", PLAIN)
    table = (folder / "pyproject.toml").read_text()

    def target():
        (manifest,) = folder.rglob("manifest.json")
        return json.loads(manifest.read_bytes())["target"]

    assert natif("generate")[0] == 0
    assert target() == "portable"
    (folder / "pyproject.toml").write_text(table + 'target = "x86-64-v2"\n')
    assert natif("generate")[0] == 0
    assert target() == "x86-64-v2"
    monkeypatch.setenv("NATIF_TARGET", "x86-64-v3")
    assert natif("generate")[0] == 0
    assert target() == "x86-64-v3"
    assert natif("generate", "--target", "native")[0] == 0
    assert target() == "native"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("targt = 'native'", "[tool.natif] targt: there is no such setting, did you mean target?; there are target, "),
        ("target = 'fast'", "[tool.natif] target is one of native, portable, x86-64-v2, x86-64-v3, x86-64-v4, not 'fast'"),
        ("jobs = -1", "[tool.natif] jobs is a number of compilers, 0 for one a processor, not -1"),
        ("paths = 'src'", "[tool.natif] paths is a list of strings, not 'src'"),
        ("out = 1", "[tool.natif] out is a string, not 1"),
    ],
)
def test_a_wrong_setting_is_named_with_what_it_can_be(natif, write, folder, table, message):
    write("pyproject.toml", f"[tool.natif]\n{table}\n")
    code, said, errors = natif("build")
    assert (code, said, errors.count("\n")) == (2, "", 1)
    assert errors.startswith(f"natif: {folder}/pyproject.toml: {message}")


def test_wrong_environment_and_arguments(natif, package, monkeypatch):
    monkeypatch.setenv("NATIF_JOBS", "many")
    code, _, errors = natif("build")
    assert (code, errors) == (2, "natif: NATIF_JOBS is a number of compilers, 0 for one a processor, not 'many'\n")
    monkeypatch.delenv("NATIF_JOBS")
    code, _, errors = natif("build", "--numerics", "loose")
    assert (code, errors.count("\n")) == (2, 1)
    assert errors.endswith("see natif build --help\n")
    assert natif("--version")[0] == 0
    assert "check" in natif("--help")[1]
    assert all(natif(command, "--help")[0] == 0 for command in ("check", "build", "run", "explain"))


def test_a_build_refuses_with_file_cause_and_remedy(natif, package, write, folder, monkeypatch):
    code, _, errors = natif("build")
    assert code == 1
    assert errors.startswith("natif: small/scoring.py:11: shown has to be native but stays Python: line 12: print ")
    write("small/scoring.py", "def f(:\n")
    assert natif("build")[0] == 0, "a file without typed functions is not natif's to judge"
    write("small/scoring.py", "import natif\ndef f(:\n")
    code, _, errors = natif("build")
    assert (code, errors.count("\n")) == (3, 1)
    assert errors.startswith(f"natif: {folder}/small/scoring.py:2: the file does not parse: ")
    write("small/scoring.py", "import natif\nLANE = 'tfe'\n@natif.native(lane=LANE)\ndef half(x: float) -> float:\n    return x / 2.0\n")
    code, _, errors = natif("build")
    assert (code, errors.count("\n")) == (2, 1)
    assert "scoring.py:3: a build does not run the file, so an option of natif.native has to be a literal; write one" in errors
    write("small/scoring.py", PLAIN)
    monkeypatch.setenv("NATIF_CXX", "/nonexistent")
    code, _, errors = natif("build", "--out", "elsewhere")
    assert code == 3
    assert errors.startswith("natif: NATIF_CXX names no usable C++ compiler (/nonexistent: not found); install g++")
    assert not (folder / "elsewhere" / "small").exists()
    assert natif("build", "nowhere")[::2] == (
        2,
        "natif: " + f"{folder}/nowhere does not exist; name a package, a folder of packages or a .py file\n",
    )
    write("dist2/small/precious.py", "")
    code, _, errors = natif("build", "--out", "dist2")
    assert (code, errors) == (
        2,
        f"natif: {folder}/dist2/small is there already and natif did not build it; choose another folder with --out\n",
    )
    assert natif("build", "--out", "small/dist")[0] == 2
    assert natif("build", "--out", folder)[0] == 2
    assert (folder / "small" / "scoring.py").exists()


def test_a_compiler_that_fails_leaves_the_output_as_it_was(natif, package, write, folder, monkeypatch):
    write("small/scoring.py", PLAIN)
    assert natif("build", "--target", "x86-64-v3")[0] == 0
    before = {file: file.read_bytes() for file in (folder / "dist").rglob("*") if file.is_file()}
    script = write("broken-cxx", '#!/bin/sh\ncase "$*" in *--version*|*-dM*) exec c++ "$@";; esac\necho "x.cpp:1: error: no" >&2; exit 1\n')
    script.chmod(0o755)
    monkeypatch.setenv("NATIF_CXX", str(script))
    write("small/scoring.py", PLAIN.replace("2.0", "8.0"))
    code, _, errors = natif("build", "--target", "x86-64-v3")
    assert code == 3
    assert f"natif: {folder}/small/scoring.py: {script}" in errors
    assert "failed: x.cpp:1: error: no; the generated source is kept in " in errors
    assert {file: file.read_bytes() for file in (folder / "dist").rglob("*") if file.is_file()} == before


def test_an_interrupt_leaves_nothing_half_written(package, write, folder):
    write("small/scoring.py", PLAIN)
    started = folder / "started"
    script = write("slow-cxx", f'#!/bin/sh\ncase "$*" in *--version*|*-dM*) exec c++ "$@";; esac\necho $$ > {started}; exec sleep 100\n')
    script.chmod(0o755)
    process = subprocess.Popen(
        [sys.executable, "-m", "natif", "build"],
        cwd=folder,
        env={**os.environ, "NATIF_CXX": str(script)},
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not (started.exists() and started.read_text().strip()) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (130, "natif: interrupted; nothing was left half-written\n")
    assert not (folder / "dist").exists()
    compiler = int(started.read_text())
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            os.kill(compiler, 0)
        except ProcessLookupError:
            return
        time.sleep(0.02)
    raise AssertionError("the compiler was left running")


def test_a_fault_is_one_line_and_the_traceback_is_asked_for(natif, package, monkeypatch):
    from natif.packaging import checks

    monkeypatch.setattr(checks, "check", lambda *_: 1 / 0)
    code, _, errors = natif("check")
    assert (code, errors.count("\n")) == (4, 1)
    assert errors.startswith("natif: a fault of natif: ZeroDivisionError: division by zero; please report it, ")
    monkeypatch.setenv("NATIF_TRACEBACK", "1")
    assert "Traceback (most recent call last)" in natif("check")[2]


def test_capabilities(natif):
    code, said, _ = natif("capabilities", "--format", "json")
    content = json.loads(said)
    assert code == 0
    assert {rule["rule"] for rule in content["rules"]} >= {"natif/MatMul", "natif/Relu"}
    code, said, _ = natif("capabilities")
    assert code == 0
    assert f"{len(content['rules'])} ops" in said.splitlines()[-1]


def test_run_makes_a_scripts_functions_and_imports_native(natif_process, write):
    write(
        "script.py",
        """
        import sys
        import natif
        from natif.types import TensorF32Cpu1D
        import helper

        def kept(x: int) -> int:
            return x

        def typed(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
            return x

        table = {"typed": typed}

        def make():
            def inner(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
                return x
            return inner

        print(__name__, sys.argv, table["typed"].is_native, make().is_native, helper.also.is_native, hasattr(kept, "is_native"))
        sys.exit(7)
        """,
    )
    write("helper.py", "from natif.types import TensorF32Cpu1D\n\ndef also(x: TensorF32Cpu1D) -> TensorF32Cpu1D:\n    return x\n")
    done = natif_process("run", "script.py", "--flag", "1")
    assert (done.returncode, done.stderr) == (7, "")
    assert done.stdout == "__main__ ['script.py', '--flag', '1'] True True True False\n"
    write("package/__init__.py", "")
    write(
        "package/tool.py", "import sys\nfrom . import __name__ as above\nprint(above, __name__, sys.argv[1:])\nraise KeyError('its own')\n"
    )
    done = natif_process("run", "-m", "package.tool", "-x")
    assert (done.returncode, done.stdout) == (1, "package __main__ ['-x']\n")
    assert done.stderr.splitlines()[0] == "Traceback (most recent call last):"
    assert done.stderr.splitlines()[-1] == "KeyError: 'its own'"
    assert "natif/" not in done.stderr
    write("broken.py", "def f(:\n")
    for arguments, said in (
        (["missing.py"], "natif: the script missing.py can't be read: No such file or directory; name one that exists\n"),
        (["-m", "no.such"], "natif: there is no module no.such with a source to run; name one that can be imported\n"),
        ([], "natif: there is nothing to run; name a script, or a module with -m\n"),
    ):
        done = natif_process("run", *arguments)
        assert (done.returncode, done.stderr) == (2, said)
    done = natif_process("run", "broken.py")
    assert done.returncode == 2
    assert done.stderr.startswith("natif: broken.py:1: the script does not parse: ")


def test_doctor_names_a_remedy_for_what_is_missing(natif, monkeypatch):
    from natif import diagnosis

    monkeypatch.setattr(
        diagnosis, "LOOKS", {name: look for name, look in diagnosis.LOOKS.items() if name not in ("TensorFlow", "self-check")}
    )
    code, said, _ = natif("doctor")
    assert code == 0, said
    assert "cache" in said
    monkeypatch.setenv("NATIF_CXX", "/nonexistent")
    monkeypatch.setenv("NATIF_MODE", "quick")
    code, said, _ = natif("doctor")
    assert code == 1
    assert "bad   compiler    NATIF_CXX names no usable C++ compiler (/nonexistent: not found)" in said
    assert "remedy: install g++ (Debian: apt install g++)" in said
    assert "note  NATIF_MODE  'quick' is none of auto, native, python, and counts as auto" in said


def test_doctor_says_where_the_cache_is_and_what_is_wrong_with_it(natif, folder, monkeypatch):
    from natif import diagnosis

    monkeypatch.setattr(diagnosis, "LOOKS", {"cache": diagnosis.LOOKS["cache"]})
    place = folder / "cache"
    monkeypatch.setenv("NATIF_CACHE_DIR", str(place))
    assert natif("doctor")[1].startswith(f"good  cache       {place}: 0 of ")
    place.chmod(0o777)
    code, said, _ = natif("doctor")
    assert code == 1
    assert f"others can write to the cache folder {place}" in said
    assert f"remedy: chmod 700 {place}, or set NATIF_CACHE_DIR" in said
