"""Damage and want: artifacts and cache entries that are not what was built, a disk that is full, a home that can't be written."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from isolated import outcomes
from observing import same

from natif import _runtime, cache

MODULE = """
import tensorflow as tf
import natif
from natif.types import TensorF32Cpu2D

@natif.native
def doubled(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.relu(x) + x
"""


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Any]]:
    """Imports one module anew at each call, as a later process would: with a cache folder of its own."""
    monkeypatch.setenv("NATIF_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_fallback", None)
    monkeypatch.syspath_prepend(str(tmp_path))
    name = f"damaged_{os.getpid()}"
    (tmp_path / f"{name}.py").write_text(MODULE, encoding="utf-8")

    def fresh() -> Any:
        sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return importlib.import_module(name)

    yield fresh
    sys.modules.pop(name, None)


def artifact() -> Path:
    (path,) = Path(os.environ["NATIF_CACHE_DIR"]).glob("*.so")
    return path


def replace(path: Path, content: bytes) -> None:
    """Puts another file in its place: the one that is loaded stays as it is."""
    aside = path.with_suffix(".aside")
    aside.write_bytes(content)
    aside.replace(path)


def flipped(content: bytes, at: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 0x55]) + content[at + 1 :]


def places(content: bytes) -> dict[str, bytes]:
    """The artifact, damaged at every kind of place."""
    middle = len(content) // 2
    header = content.find(b"situation") if b"situation" in content else content.find(b"damaged_")
    return {
        "the ELF header": flipped(content, 0),
        "the program headers": flipped(content, 0x48),
        "code": flipped(content, middle),
        "the module's name": flipped(content, header),
        "the tail": flipped(content, len(content) - 1),
        "the tail, cut off": content[:-100],
        "half, cut off": content[:middle],
        "everything": b"",
        "everything, with text": b"not an ELF file",
        "more at the end": content + b"\0",
    }


@pytest.mark.situation(
    "Cache and artifacts",
    "an artifact of the cache is damaged: header, code, tail, length",
    eager="",
    natif="is noticed before it is loaded; built again",
)
def test_damaged_cache(load: Callable[[], Any], draw: Any) -> None:
    x = draw(5, 3)
    same(load().doubled, x)
    whole = artifact().read_bytes()
    damaged = places(whole)
    for where, content in damaged.items():
        replace(artifact(), content)
        module = load()
        same(module.doubled, x)
        assert module.doubled.calls == {"native": 1, "python": {}}, where
        assert artifact().read_bytes() != content, where


@pytest.mark.situation("Cache and artifacts", "the record of an entry is damaged or missing", eager="", natif="built again")
def test_damaged_record(load: Callable[[], Any], draw: Any) -> None:
    x = draw(5, 3)
    same(load().doubled, x)
    record = artifact().with_suffix(".json")
    for content in (b"", b"{", b"[]", b'{"sha256": 5}', b"\xff\xfe", None):
        before = json.loads(record.read_bytes())
        record.unlink()
        if content is not None:
            record.write_bytes(content)
        module = load()
        same(module.doubled, x)
        assert module.doubled.calls == {"native": 1, "python": {}}
        assert set(json.loads(record.read_bytes())) == set(before)


WORDS = 15
"""8-byte words of natif_module (runtime/abi.h): version and size, name, file, and six arrays with their counts."""


@pytest.mark.situation(
    "Cache and artifacts",
    "an artifact with damaged tables, or of another ABI version, is opened",
    eager="",
    natif="RuntimeError with the cause",
)
def test_damaged_tables(load: Callable[[], Any], draw: Any, tmp_path: Path) -> None:
    same(load().doubled, draw(5, 3))
    whole = artifact().read_bytes()
    start = offset_of_module(artifact())
    refused = 0
    for word in range(WORDS):
        for value in (0, 1, 2**31 - 1, 2**32 - 1, 2**47 + 1):
            at = start + 8 * word
            path = tmp_path / f"word{word}-{value}.so"
            path.write_bytes(whole[:at] + value.to_bytes(8, "little") + whole[at + 8 :])
            try:
                opened = _runtime.Artifact(str(path))
            except RuntimeError as error:
                refused += 1
                assert str(error).startswith("natif: the artifact")  # noqa: PT017
            else:
                assert (opened.functions, opened.rules, opened.name, opened.source_file) is not None
    assert refused > WORDS


def offset_of_module(path: Path) -> int:
    """Where natif_module stands in the file."""
    symbols = subprocess.run(["readelf", "--wide", "--dyn-syms", path], capture_output=True, text=True, check=True).stdout
    address = int(next(line.split()[1] for line in symbols.splitlines() if line.endswith(" natif_module")), 16)
    segments = subprocess.run(["readelf", "--wide", "--segments", path], capture_output=True, text=True, check=True).stdout
    loads = [[int(field, 16) for field in line.split()[1:6]] for line in segments.splitlines() if line.strip().startswith("LOAD")]
    return next(address - virtual + offset for offset, virtual, _, size, _ in loads if virtual <= address < virtual + size)


@pytest.mark.situation(
    "Cache and artifacts",
    "the cache folder can't be used: it is a file, a link to nowhere",
    eager="",
    natif="one warning; builds into a private folder",
)
@pytest.mark.parametrize("kind", ["file", "link"])
def test_unusable_folder(load: Callable[[], Any], draw: Any, tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "cache"
    folder.write_text("") if kind == "file" else folder.symlink_to(tmp_path / "nowhere" / "else")
    module = load()
    with pytest.warns(RuntimeWarning, match=r"^natif: the cache folder .* can't be used") as caught:
        same(module.doubled, draw(5, 3))
    assert len(caught) == 1
    assert module.doubled.calls == {"native": 1, "python": {}}


@pytest.fixture(scope="module")
def want() -> dict[str, str]:
    return outcomes("want.py", HOME="/proc", NATIF_CACHE_DIR="", XDG_CACHE_HOME="")


@pytest.mark.situation("Cache and artifacts", "a home that can't be written", eager="", natif="one warning; builds into a private folder")
def test_read_only_home(want: dict[str, str]) -> None:
    assert want["a_home_that_is_read_only"] == "ok"


@pytest.mark.situation(
    "Cache and artifacts",
    "no file can grow (RLIMIT_FSIZE), so that nothing can be built",
    eager="",
    natif="one warning with the cause; interprets the graph, op by op",
)
def test_full_disk(want: dict[str, str]) -> None:
    assert want["no_room_for_a_build"] == "ok"
    assert want["no_room_where_native_is_required"] == "ok"


@pytest.mark.situation("Cache and artifacts", "no compiler", eager="", natif="one warning with the remedy; interprets the graph, op by op")
def test_no_compiler(want: dict[str, str]) -> None:
    assert want["no_compiler"] == "ok"
    assert want["end"] == "ok"


def test_the_warning_is_given_once(load: Callable[[], Any], draw: Any, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("")
    module, x = load(), draw(2, 2)
    with pytest.warns(RuntimeWarning, match="can't be used"):
        module.doubled(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        module.doubled(tf.zeros((1, 1)))
        load().doubled(x)
