"""The cache of built artifacts: code that gets loaded, so only this user may write it, and nothing is loaded that does not match its hash.

Folder: NATIF_CACHE_DIR, else $XDG_CACHE_HOME/natif, else ~/.cache/natif; mode 0700, owned by the user, otherwise refused (CacheError).
An entry is `STEM.KEY.so` and `STEM.KEY.json`, which holds the sha256 of the .so; with NATIF_KEEP=1 also `STEM.KEY.cpp`. The key is a
sha256 over everything that the object's bytes depend on (see _key). A process that builds holds the lock `KEY.lock` and works in
`KEY.building`; both names are free again whenever the process ends, however it ends, and what it left is removed by the next one.
"""

import contextlib
import hashlib
import json
import os
import re
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from natif import toolchain
from natif._version import __version__
from natif.cache_folder import folder, folder_name
from natif.errors import CompileError
from natif.toolchain import Unit

if TYPE_CHECKING:
    from concurrent.futures import Executor

SIZE_LIMIT = 512 * 1024 * 1024
"""Bytes that the folder may hold; beyond it the least recently used entries go."""

_KEY_LENGTH = 32


def cached_build(source: str | Sequence[Unit], stem: str, target: str = "native", pool: "Executor | None" = None) -> Path:
    """The shared object built from C++ source: from the cache where it is there and whole, else built and put there.

    The source is one text for the target, or several units, each for its own target, which are compiled on the pool's threads where there
    is one. The stem names the files for people and debuggers. Any number of processes and threads may ask for the same object at once; one
    builds. CompileError where it can't be built, CacheError where the folder is refused. A folder that can't be written, or a full disk,
    costs a RuntimeWarning once and the build goes to a private temporary folder; CompileError where that can't take it either.
    """
    stem = re.sub(r"[^\w.-]", "_", stem, flags=re.ASCII).lstrip(".-")[:60] or "artifact"
    units = [Unit("module.cpp", target, source)] if isinstance(source, str) else list(source)
    if _fallback is None:
        for _ in range(2):
            try:
                return _built_in(folder(), units, stem, pool)
            except OSError as error:
                cause = error
                # Once more where another process removed the folder under us.
                if not isinstance(error, FileNotFoundError):
                    break
    try:
        if _fallback is None:
            _fall_back(cause)
        return _built_in(_private(), units, stem, pool)
    except OSError as error:
        raise CompileError(
            f"natif: neither the cache folder {folder_name()} nor a temporary one can take a build ({error.strerror}). "
            "Free some space, or set NATIF_CACHE_DIR and TMPDIR to folders that can be written."
        ) from error


def clear() -> int:
    """Removes every entry of the cache that no process is building, and returns how many bytes that freed."""
    if not folder_name().is_dir():
        return 0
    (folder() / "compilers.json").unlink(missing_ok=True)
    return trim(0)


def trim(limit: int = SIZE_LIMIT) -> int:
    """Removes what killed builds left, then the least recently used entries until `limit` bytes are left; returns how many it freed."""
    root = folder()
    freed = sum(_remove_abandoned(root, leftover.name.removesuffix(".building")) for leftover in root.glob("*.building"))
    entries: dict[str, list[Path]] = {}
    for path in root.iterdir():
        if path.suffix in (".so", ".json", ".cpp") and "." in path.stem:
            entries.setdefault(path.stem, []).append(path)
    sizes = {name: sum(_size(path) for path in files) for name, files in entries.items()}
    total = sum(sizes.values())
    for name in sorted(entries, key=lambda name: max(_last_use(path) for path in entries[name])):
        if total <= limit:
            break
        for path in entries[name]:
            path.unlink(missing_ok=True)
        total -= sizes[name]
        freed += sizes[name]
    return freed


def _size(path: Path) -> int:
    with contextlib.suppress(FileNotFoundError):
        return path.stat().st_size
    return 0


def _last_use(path: Path) -> int:
    with contextlib.suppress(FileNotFoundError):
        return path.stat().st_mtime_ns
    return 0


def _built_in(root: Path, units: list[Unit], stem: str, pool: "Executor | None") -> Path:
    """The object in this folder. OSError where the folder can't be written."""
    compiler = _compiler(root)
    key = _key(compiler, units, stem)
    name = f"{stem}.{key}"
    product = root / f"{name}.so"
    if _whole(root, name):
        return product
    with _locked(root, key):
        if _whole(root, name):
            return product
        building = root / f"{key}.building"
        _remove_tree(building)
        building.mkdir(mode=0o700)
        try:
            _build(building, units, name, pool)
            _publish(building, root, name)
        finally:
            _remove_tree(building)
    if root != _fallback:
        trim()
    return product


def _build(building: Path, units: list[Unit], name: str, pool: "Executor | None") -> None:
    """Compiles in the folder of this build. A source that failed to compile is moved beside the entries, where the error says it is."""
    root = building.parent
    try:
        toolchain.compile_units(units, stem=name, extra_flags=(f"-ffile-prefix-map={building}={root}",), folder=building, pool=pool)
    except CompileError as error:
        for unit in building.glob("*.cpp"):
            unit.replace(root / unit.name)
        raise type(error)(str(error).replace(str(building), str(root))) from None


def _publish(building: Path, root: Path, name: str) -> None:
    """Moves a finished build to its entry. The hash goes last: without it, or with another, the entry counts as absent."""
    product = building / f"{name}.so"
    record = building / f"{name}.json"
    record.write_text(json.dumps({"sha256": _hash(product), "natif": __version__}), encoding="utf-8")
    for path in (*building.glob("*.cpp"), product, record):
        path.replace(root / path.name)


def _whole(root: Path, name: str) -> bool:
    """Whether the entry is there and its object is the one that was built; marks it as used."""
    record = root / f"{name}.json"
    try:
        expected = json.loads(record.read_bytes())["sha256"]
        if _hash(root / f"{name}.so") != expected:
            return False
    except (OSError, ValueError, KeyError, TypeError):
        return False
    with contextlib.suppress(OSError):
        os.utime(record)
    return True


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _key(compiler: toolchain.Compiler, units: list[Unit], stem: str) -> str:
    """The hash over all that the object depends on: compiler, flags, processor, headers, natif's version, source."""
    digest = hashlib.sha256()
    parts = [*compiler.command, compiler.version, headers(), __version__, stem]
    for unit in units:
        processor = toolchain.cpu_identity() if unit.target == "native" else ""
        parts += [unit.name, *toolchain.flags(unit.target), processor, unit.text]
    for part in parts:
        encoded = part.encode()
        digest.update(len(encoded).to_bytes(8, "little"))
        digest.update(encoded)
    return digest.hexdigest()[:_KEY_LENGTH]


_headers_hash = ""


def headers() -> str:
    """The hash of the kernel and ABI headers that emitted code includes; read once a process."""
    global _headers_hash
    if not _headers_hash:
        digest = hashlib.sha256()
        include = str(toolchain.include_folder())
        for folder_of_headers, folders, names in os.walk(include):
            folders.sort()
            for name in sorted(name for name in names if name.endswith(".h")):
                path = os.path.join(folder_of_headers, name)  # noqa: PTH118
                with open(path, "rb") as header:  # noqa: PTH123
                    content = header.read()
                digest.update(f"{path[len(include) :]} {len(content)}\n".encode() + content)
        _headers_hash = digest.hexdigest()
    return _headers_hash


def _compiler(root: Path) -> toolchain.Compiler:
    """The compiler, without starting it where an earlier process left in the folder what it answered."""
    record = root / "compilers.json"
    known = _remembered(record)
    for identity, compiler in known.items():
        toolchain.remember(identity, compiler)
    compiler = toolchain.find_compiler()
    identity = toolchain.identity(compiler.command)
    if identity not in known:
        aside = root / f"compilers.json.{os.getpid()}.{threading.get_ident()}"
        text = json.dumps({name: each._asdict() for name, each in {**known, identity: compiler}.items()})
        # A folder that can only be read still serves what it holds.
        with contextlib.suppress(OSError):
            aside.write_text(text, encoding="utf-8")
            aside.replace(record)
    return compiler


def _remembered(record: Path) -> dict[str, toolchain.Compiler]:
    """The compilers of the file by their identity(); empty where it is missing or damaged."""
    try:
        return {
            identity: toolchain.Compiler(tuple(fields["command"]), fields["kind"], fields["version"], fields["machine"])
            for identity, fields in json.loads(record.read_bytes()).items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


@contextlib.contextmanager
def _locked(root: Path, key: str, *, wait: bool = True) -> Iterator[bool]:
    """Holds the lock of a key, among processes and threads; yields False where another has it and `wait` is off."""
    import fcntl

    path = root / f"{key}.lock"
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            yield False
            return
        except BaseException:
            os.close(descriptor)
            raise
        # The last holder may have removed the file between our open and our lock; then this lock is on nothing.
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                break
        os.close(descriptor)
    try:
        yield True
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _remove_abandoned(root: Path, key: str) -> int:
    """Removes what a killed build of this key left, unless a living one has the lock; returns the bytes freed."""
    with _locked(root, key, wait=False) as held:
        if not held:
            return 0
        building = root / f"{key}.building"
        freed = sum(_size(path) for path in building.glob("*"))
        _remove_tree(building)
        return freed


def _remove_tree(path: Path) -> None:
    import shutil

    if path.exists():
        shutil.rmtree(path, ignore_errors=True)


_fallback: Path | None = None


def _private() -> Path:
    """The temporary folder of this process; a new one in a forked child whose parent has ended and taken the old one with it."""
    global _fallback
    if _fallback is None or not _fallback.is_dir():
        _fallback = toolchain.private_folder()
    return _fallback


def _fall_back(cause: OSError) -> None:
    """From now on this process builds into a private temporary folder; said once."""
    import warnings

    warnings.warn(
        f"natif: the cache folder {folder_name()} can't be used ({cause.strerror}); building into {_private()} for this process. "
        "Free some space or set NATIF_CACHE_DIR to a folder that can be written.",
        RuntimeWarning,
        stacklevel=3,
    )
