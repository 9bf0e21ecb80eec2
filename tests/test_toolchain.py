"""The tool chain: which compiler is taken, what the built object is made of, and what a compiler that misbehaves is reported as."""

import ctypes
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from natif import toolchain
from natif.errors import CompileError

ANSWER = 'extern "C" __attribute__((visibility("default"))) int answer() { return 42; }\n'

IDENTIFIES = r"""#!/bin/sh
for word in "$@"; do
  case "$word" in
    --version) echo "fake g++ 12.0"; exit 0 ;;
    -dM) echo "#define __GNUC__ 12"; echo "#define __x86_64__ 1"; exit 0 ;;
  esac
done
"""


@pytest.fixture(autouse=True)
def _no_compiler_from_outside(monkeypatch):
    for name in ("NATIF_CXX", "CXX", "NATIF_KEEP"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def fake_compiler(tmp_path, monkeypatch):
    """Makes NATIF_CXX a program that identifies itself as g++ and then runs the given shell lines."""

    def make(lines: str, *, identifies: str = IDENTIFIES) -> Path:
        path = tmp_path / "fake-g++"
        path.write_text(identifies + lines)
        path.chmod(0o755)
        monkeypatch.setenv("NATIF_CXX", str(path))
        return path

    return make


def test_a_built_object_works_and_links_neither_python_nor_the_cpp_library(tmp_path):
    exported = 'extern "C" __attribute__((visibility("default"))) float e(float x) { return expf(x); }'
    source = f"#include <math.h>\n{exported}\nint hidden() {{ return 1; }}\n"
    built = toolchain.compile_shared(source, stem="unit", folder=tmp_path)
    assert built == tmp_path / "unit.so"
    e = ctypes.CDLL(str(built)).e
    e.argtypes, e.restype = [ctypes.c_float], ctypes.c_float
    assert e(0.0) == 1.0
    dynamic = subprocess.run(["readelf", "--dynamic", "--wide", built], capture_output=True, text=True, check=True).stdout
    needed = [line.split("[")[1].rstrip("]") for line in dynamic.splitlines() if "(NEEDED)" in line]
    assert set(needed) <= {"libm.so.6", "libc.so.6"}
    assert "libm.so.6" in needed
    symbols = subprocess.run(["nm", "--dynamic", built], capture_output=True, text=True, check=True).stdout
    assert "T e" in symbols
    assert "hidden" not in symbols
    assert "U expf" in symbols


def test_a_constant_exponential_is_still_the_librarys(tmp_path):
    source = '#include <math.h>\nextern "C" __attribute__((visibility("default"))) float e() { return expf(0.5f) + logf(3.0f); }\n'
    built = toolchain.compile_shared(source, stem="unit", folder=tmp_path)
    symbols = subprocess.run(["nm", "--dynamic", built], capture_output=True, text=True, check=True).stdout
    assert "U expf" in symbols
    assert "U logf" in symbols


def test_the_headers_of_emitted_code_are_found(tmp_path):
    source = '#include "runtime/abi.h"\nextern "C" NATIF_EXPORT int version() { return NATIF_ABI_VERSION; }\n'
    built = toolchain.compile_shared(source, stem="unit", folder=tmp_path)
    assert ctypes.CDLL(str(built)).version() >= 1


def test_the_same_source_gives_the_same_bytes_wherever_it_is_built(tmp_path):
    folders = [tmp_path / "a", tmp_path / "a longer name"]
    for folder in folders:
        folder.mkdir()
    first, second = (toolchain.compile_shared(ANSWER, stem="unit", folder=folder).read_bytes() for folder in folders)
    assert first == second
    assert str(tmp_path).encode() not in first


def test_the_source_is_kept_only_on_request(tmp_path, monkeypatch):
    built = toolchain.compile_shared(ANSWER, stem="unit", folder=tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["unit.so"]
    size = built.stat().st_size
    monkeypatch.setenv("NATIF_KEEP", "1")
    assert toolchain.compile_shared(ANSWER, stem="unit", folder=tmp_path).stat().st_size > size
    assert (tmp_path / "unit.cpp").read_text() == ANSWER
    sections = subprocess.run(["readelf", "--sections", "--wide", built], capture_output=True, text=True, check=True).stdout
    assert ".debug_info" in sections


@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3", "x86-64-v4"])
def test_each_target_compiles(target, tmp_path):
    assert f"-march={target}" in toolchain.flags(target)
    assert toolchain.compile_shared(ANSWER, stem="unit", target=target, folder=tmp_path).exists()


def test_an_unknown_target_and_a_bad_name_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"natif: unknown target 'z80'; natif has native, x86-64-v2"):
        toolchain.compile_shared(ANSWER, stem="unit", target="z80", folder=tmp_path)
    for stem in ("../unit", "-o", "", "a b", ".hidden"):
        with pytest.raises(ValueError, match="natif: .* can't be the name of a generated file"):
            toolchain.compile_shared(ANSWER, stem=stem, folder=tmp_path)


def test_without_a_folder_the_object_lasts_as_long_as_the_process():
    script = (
        "from natif import toolchain\n"
        f"built = toolchain.compile_shared({ANSWER!r}, stem='unit')\n"
        "import ctypes, os\n"
        "assert ctypes.CDLL(str(built)).answer() == 42\n"
        "assert os.stat(built.parent).st_mode & 0o777 == 0o700\n"
        "print(built)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not Path(done.stdout.strip()).parent.exists()


def test_natif_cxx_comes_first_and_nothing_replaces_it(monkeypatch):
    monkeypatch.setenv("CXX", "clang++-that-is-not-there")
    found = toolchain.find_compiler()
    assert Path(found.command[0]).name in ("c++", "g++", "clang++")
    monkeypatch.setenv("CXX", f"{found.command[0]} -DA=1")
    assert toolchain.find_compiler().command == (found.command[0], "-DA=1")
    monkeypatch.setenv("NATIF_CXX", "no-such-compiler")
    with pytest.raises(CompileError, match=r"natif: NATIF_CXX names no usable C\+\+ compiler \(no-such-compiler: not found\)"):
        toolchain.find_compiler()


def test_a_missing_compiler_is_reported_with_its_remedy(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    remedy = r"natif: no C\+\+ compiler was found \(c\+\+: not found; g\+\+: not found; clang\+\+: not found\); "
    with pytest.raises(CompileError, match=remedy + r"install g\+\+ \(Debian: apt install g\+\+\) or set NATIF_CXX"):
        toolchain.compile_shared(ANSWER, stem="unit", folder=tmp_path)


def test_a_program_that_is_no_compiler_is_refused(fake_compiler):
    fake_compiler("exit 1\n", identifies="#!/bin/sh\n")
    with pytest.raises(CompileError, match="it doesn't answer --version"):
        toolchain.find_compiler()


def test_too_old_a_compiler_is_refused(fake_compiler):
    fake_compiler("exit 1\n", identifies=IDENTIFIES.replace("__GNUC__ 12", "__GNUC__ 9"))
    with pytest.raises(CompileError, match="gcc 9 is too old, natif needs 11 or later"):
        toolchain.find_compiler()


def test_an_error_names_compiler_first_error_and_kept_source(tmp_path):
    source = "#warning first\nint x = undeclared;\nint y = other;\n"
    with pytest.raises(CompileError, match="^natif: ") as caught:
        toolchain.compile_shared(source, stem="unit", folder=tmp_path)
    message = str(caught.value)
    assert toolchain.find_compiler().command[0] in message
    assert "undeclared" in message
    assert "first" not in message
    assert "\n" not in message
    assert message.endswith(str(tmp_path / "unit.cpp"))
    assert (tmp_path / "unit.cpp").read_text() == source


def test_a_hanging_compiler_is_killed_with_its_children(fake_compiler, tmp_path, monkeypatch):
    fake_compiler(f"sleep 60 & echo $! > {tmp_path}/child\nwait\n")
    monkeypatch.setattr(toolchain, "COMPILE_TIMEOUT", 1.0)
    with pytest.raises(CompileError, match="did not finish within 1 s and was killed"):
        toolchain.compile_shared(ANSWER, stem="unit", folder=tmp_path)
    child = int((tmp_path / "child").read_text())
    for _ in range(100):
        try:
            state = Path(f"/proc/{child}/stat").read_text().split()[2]
        except FileNotFoundError:
            return
        if state == "Z":
            return
        time.sleep(0.05)
    pytest.fail("the compiler's child outlived it")


def test_a_killed_compiler_is_reported(fake_compiler, tmp_path):
    fake_compiler("kill -KILL $$\n")
    with pytest.raises(CompileError, match="was killed by SIGKILL; is there enough memory"):
        toolchain.compile_shared(ANSWER, stem="unit", folder=tmp_path)


def test_a_compiler_that_writes_nothing_is_an_error(fake_compiler, tmp_path):
    fake_compiler("exit 0\n")
    with pytest.raises(CompileError, match="failed: exit status 0"):
        toolchain.compile_shared(ANSWER, stem="unit", folder=tmp_path)


def test_the_processor_is_described():
    assert toolchain.cpu_identity()
    if os.uname().machine == "x86_64":
        assert "sse2" in toolchain.cpu_flags()
    wide = "-mprefer-vector-width=512" in toolchain.flags("native")
    assert wide == ("avx512f" in toolchain.cpu_flags())
