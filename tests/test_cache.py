"""The artifact cache: hits without a compiler, keys, permissions, damage, concurrent and killed builds, size, and what it falls back to."""

import ctypes
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from natif import cache, cache_folder, toolchain
from natif.errors import CacheError, CompileError


def source(number: int) -> str:
    return f'extern "C" __attribute__((visibility("default"))) int answer() {{ return {number}; }}\n'


def answer(path: Path) -> int:
    return ctypes.CDLL(str(path)).answer()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache folder of this test's own, not yet there."""
    path = tmp_path / "cache"
    monkeypatch.setenv("NATIF_CACHE_DIR", str(path))
    monkeypatch.delenv("NATIF_CXX", raising=False)
    monkeypatch.delenv("NATIF_KEEP", raising=False)
    monkeypatch.setattr(cache, "_fallback", None)
    return path


@pytest.fixture
def logged_compiler(tmp_path, monkeypatch):
    """Makes NATIF_CXX the real compiler, which leaves a line for each time that it is started. Returns a function that counts them."""
    log = tmp_path / "starts"
    log.touch()
    compiler = toolchain.find_compiler().command[0]
    path = tmp_path / "logged-c++"
    path.write_text(f'#!/bin/sh\necho "$*" >> "{log}"\nexec "{compiler}" "$@"\n')
    path.chmod(0o755)
    monkeypatch.setenv("NATIF_CXX", str(path))

    def builds() -> list[str]:
        return log.read_text().splitlines()

    return builds


def run_python(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)


def test_a_build_is_found_again(folder):
    first = cache.cached_build(source(1), "unit")
    assert answer(first) == 1
    assert first.parent == folder
    assert first.name.startswith("unit.")
    state = first.stat()
    assert cache.cached_build(source(1), "unit") == first
    assert first.stat().st_mtime_ns == state.st_mtime_ns
    assert answer(cache.cached_build(source(2), "unit")) == 2


def test_a_later_process_starts_no_compiler(folder, logged_compiler):
    script = f"from natif import cache; print(cache.cached_build({source(1)!r}, 'unit'))"
    first = run_python(script)
    assert first.returncode == 0, first.stderr
    started = logged_compiler()
    assert any("-shared" in line for line in started)
    second = run_python(script)
    assert second.stdout == first.stdout
    assert logged_compiler() == started


def test_the_folder_is_the_users_alone_and_holds_only_entries(folder):
    built = cache.cached_build(source(1), "unit")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert sorted(path.name for path in folder.iterdir()) == sorted(["compilers.json", built.name, built.with_suffix(".json").name])


def test_the_folder_follows_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("NATIF_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder.folder_name() == tmp_path / "home" / ".cache" / "natif"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder.folder_name() == tmp_path / "home" / ".cache" / "natif"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder.folder_name() == tmp_path / "xdg" / "natif"
    monkeypatch.setenv("NATIF_CACHE_DIR", "~/mine")
    assert cache_folder.folder_name() == tmp_path / "home" / "mine"


@pytest.mark.parametrize("mode", [0o770, 0o777, 0o702])
def test_a_folder_that_others_can_write_is_refused(folder, mode):
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(CacheError, match=f"natif: others can write to the cache folder {folder}; run chmod 700"):
        cache.cached_build(source(1), "unit")
    assert list(folder.iterdir()) == []


def test_a_folder_of_another_user_is_refused(folder, monkeypatch):
    if os.geteuid() == 0:
        folder.mkdir(mode=0o700)
        os.chown(folder, 12345, -1)
    else:
        monkeypatch.setenv("NATIF_CACHE_DIR", "/usr")
    with pytest.raises(CacheError, match="natif: the cache folder .* belongs to another user; set NATIF_CACHE_DIR"):
        cache.cached_build(source(1), "unit")


def test_everything_that_decides_the_object_is_in_the_key(folder, monkeypatch):
    built = {cache.cached_build(source(1), "unit")}

    def is_new() -> bool:
        before = len(built)
        built.add(cache.cached_build(source(1), "unit"))
        return len(built) > before

    assert not is_new()
    with monkeypatch.context() as changed:
        changed.setattr(cache, "__version__", "0.0.0")
        assert is_new()
    with monkeypatch.context() as changed:
        changed.setattr(toolchain, "cpu_identity", lambda: "another processor")
        assert is_new()
    with monkeypatch.context() as changed:
        changed.setattr(cache, "_headers_hash", "other headers")
        assert is_new()
    with monkeypatch.context() as changed:
        changed.setenv("NATIF_CXX", f"{toolchain.find_compiler().command[0]} -DA=1")
        assert is_new()
    with monkeypatch.context() as changed:
        changed.setenv("NATIF_KEEP", "1")
        assert is_new()
    built.add(cache.cached_build(source(1), "unit", "x86-64-v2"))
    built.add(cache.cached_build(source(1), "other"))
    assert len(built) == 8
    assert not is_new()


def test_the_headers_hash_follows_their_content(tmp_path, monkeypatch):
    include = tmp_path / "include"
    shutil.copytree(toolchain.include_folder(), include)
    monkeypatch.setattr(toolchain, "include_folder", lambda: include)
    hashes = []
    for text in ("", "// changed\n"):
        with (include / "runtime" / "abi.h").open("a") as header:
            header.write(text)
        monkeypatch.setattr(cache, "_headers_hash", "")
        hashes.append(cache.headers())
    assert hashes[0] != hashes[1]


def damage_middle(built: Path) -> None:
    content = bytearray(built.read_bytes())
    content[len(content) // 2] ^= 1
    built.write_bytes(content)


DAMAGES = {
    "a flipped bit": damage_middle,
    "a cut object": lambda built: os.truncate(built, 100),
    "an empty object": lambda built: os.truncate(built, 0),
    "no object": lambda built: built.unlink(),
    "no record": lambda built: built.with_suffix(".json").unlink(),
    "a cut record": lambda built: os.truncate(built.with_suffix(".json"), 10),
    "a record of another form": lambda built: built.with_suffix(".json").write_text("[1]"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_entry_is_built_again(folder, damage):
    built = cache.cached_build(source(7), "unit")
    content = built.read_bytes()
    damage(built)
    assert cache.cached_build(source(7), "unit") == built
    assert built.read_bytes() == content


def test_a_damaged_memory_of_compilers_is_no_obstacle(folder):
    cache.cached_build(source(1), "unit")
    for text in ("", "[]", "{", '{"a": 1}', '{"a": {"command": ["x"]}}'):
        (folder / "compilers.json").write_text(text)
        assert answer(cache.cached_build(source(1), "unit")) == 1


def test_many_processes_build_once(folder, logged_compiler):
    script = f"from natif import cache; import ctypes; print(ctypes.CDLL(str(cache.cached_build({source(5)!r}, 'unit'))).answer())"
    processes = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) for _ in range(8)]
    assert [process.communicate(timeout=120)[0].strip() for process in processes] == ["5"] * 8
    assert sum("-shared" in line for line in logged_compiler()) == 1
    assert not [path for path in folder.iterdir() if path.suffix in (".lock", ".building")]


def test_many_threads_build_once(folder, logged_compiler):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(8) as pool:
        built = set(pool.map(lambda _: cache.cached_build(source(6), "unit"), range(8)))
    assert len(built) == 1
    assert sum("-shared" in line for line in logged_compiler()) == 1


def test_a_killed_build_leaves_no_obstacle_and_is_cleaned(folder, tmp_path, monkeypatch):
    compiler = toolchain.find_compiler().command[0]
    slow = tmp_path / "slow-c++"
    wait = f"[ -e {tmp_path}/fast ] || {{ touch {tmp_path}/started; sleep 20; }}"
    slow.write_text(f'#!/bin/sh\ncase "$*" in *-shared*) {wait} ;; esac\nexec "{compiler}" "$@"\n')
    slow.chmod(0o755)
    monkeypatch.setenv("NATIF_CXX", str(slow))
    script = f"from natif import cache; cache.cached_build({source(8)!r}, 'unit')"
    victim = subprocess.Popen([sys.executable, "-c", script])
    for _ in range(400):
        if (tmp_path / "started").exists():
            break
        time.sleep(0.05)
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    assert list(folder.glob("*.building"))
    (tmp_path / "fast").touch()
    assert answer(cache.cached_build(source(9), "unit")) == 9
    assert not list(folder.glob("*.building"))
    assert answer(cache.cached_build(source(8), "unit")) == 8


def test_cleaning_leaves_a_living_build_alone(folder):
    folder.mkdir(mode=0o700)
    with cache._locked(folder, "key"):
        (folder / "key.building").mkdir()
        cache.trim()
        assert (folder / "key.building").exists()
    cache.trim()
    assert not (folder / "key.building").exists()


def test_the_least_recently_used_entries_go_first(folder):
    old, used, new = (cache.cached_build(source(number), "unit") for number in (1, 2, 3))
    for age, built in ((300, used), (200, old), (100, new)):
        for path in (built, built.with_suffix(".json")):
            os.utime(path, (time.time() - age, time.time() - age))
    cache.cached_build(source(2), "unit")
    entry = new.stat().st_size + new.with_suffix(".json").stat().st_size
    freed = cache.trim(2 * entry + 100)
    assert freed > 0
    assert (old.exists(), used.exists(), new.exists()) == (False, True, True)
    assert not old.with_suffix(".json").exists()


def test_a_build_keeps_the_folder_within_its_limit(folder, monkeypatch):
    monkeypatch.setattr(cache.trim, "__defaults__", (1,))
    cache.cached_build(source(1), "unit")
    assert not list(folder.glob("*.so"))


def test_clearing_empties_the_cache(folder):
    assert cache.clear() == 0
    cache.cached_build(source(1), "unit")
    assert cache.clear() > 0
    assert list(folder.iterdir()) == []


def test_a_failed_build_keeps_its_source_where_the_error_says(folder):
    with pytest.raises(CompileError, match="undeclared") as caught:
        cache.cached_build("int x = undeclared;\n", "unit")
    kept = Path(str(caught.value).rsplit(" ", 1)[1])
    assert kept.parent == folder
    assert kept.read_text() == "int x = undeclared;\n"
    assert not list(folder.glob("*.so"))
    assert not [path for path in folder.iterdir() if path.suffix in (".lock", ".building")]


def test_a_kept_source_is_where_the_symbols_point(folder, monkeypatch):
    monkeypatch.setenv("NATIF_KEEP", "1")
    built = cache.cached_build(source(1), "unit")
    assert built.with_suffix(".cpp").read_text() == source(1)
    lines = subprocess.run(["readelf", "--debug-dump=info", built], capture_output=True, text=True, check=True).stdout
    assert str(folder) in lines
    assert ".building" not in lines


@pytest.mark.parametrize("stem", ["../../etc/x", "-o", "a b\n", "", "ünï", "x" * 500, "..", "pkg.mod"])
def test_no_stem_leaves_the_folder(folder, stem):
    built = cache.cached_build(source(1), stem)
    assert built.parent == folder
    assert answer(built) == 1


@pytest.mark.parametrize("where", ["under a file", "a file", "in /proc"])
def test_a_folder_that_cannot_be_made_costs_one_warning(folder, tmp_path, monkeypatch, where):
    (tmp_path / "file").write_text("")
    path = {"under a file": tmp_path / "file" / "cache", "a file": tmp_path / "file", "in /proc": Path("/proc/natif-cache")}[where]
    monkeypatch.setenv("NATIF_CACHE_DIR", str(path))
    with pytest.warns(RuntimeWarning, match=f"natif: the cache folder {path} can't be used .*set NATIF_CACHE_DIR") as caught:
        built = cache.cached_build(source(1), "unit")
    assert len(caught) == 1
    assert answer(built) == 1
    assert stat.S_IMODE(built.parent.stat().st_mode) == 0o700
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cache.cached_build(source(1), "unit") == built
        shutil.rmtree(built.parent)
        assert answer(cache.cached_build(source(1), "unit")) == 1


def test_a_full_disk_costs_one_warning(folder, tmp_path, monkeypatch):
    compiler = toolchain.find_compiler().command[0]
    full = tmp_path / "full-c++"
    full.write_text(f'#!/bin/sh\ncase "$PWD" in {folder}/*) echo "ld: No space left on device"; exit 1 ;; esac\nexec "{compiler}" "$@"\n')
    full.chmod(0o755)
    monkeypatch.setenv("NATIF_CXX", str(full))
    with pytest.warns(RuntimeWarning, match=r"No space left on device.*Free some space"):
        built = cache.cached_build(source(1), "unit")
    assert built.parent != folder
    assert answer(built) == 1
    assert not [path for path in folder.iterdir() if path.suffix in (".lock", ".building", ".so")]


def test_the_record_says_what_it_guards(folder):
    built = cache.cached_build(source(1), "unit")
    record = json.loads(built.with_suffix(".json").read_text())
    assert set(record) == {"sha256", "natif"}
