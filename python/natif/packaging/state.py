"""Whether anything has to be built at all: a record beside the outputs of everything that the last build depended on, and of what it wrote.

Two builds with equal fingerprints give equal outputs. The record holds the sha256 of each output, and its size and time so that it is read
again only where they changed.
"""

import contextlib
import json
import os
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from natif._version import __version__
from natif.packaging.config import Settings
from natif.packaging.project import Project

RECORD = ".natif-build.json"


def fingerprint(project: Project, *, kind: str) -> str:
    """The hash of all that a build of this kind depends on: sources, settings, natif and its headers, the C++ compiler, the machine."""
    from natif import cache, toolchain

    digest = sha256()
    settings = project.settings
    chosen = [
        kind,
        __version__,
        settings.target,
        settings.numerics,
        settings.lane,
        *settings.exclude,
        "",
        *settings.require,
        settings.version_file,
    ]
    machine = toolchain.cpu_identity() if settings.target == "native" else os.uname().machine
    environment = [os.environ.get(name, "") for name in ("SOURCE_DATE_EPOCH", "NATIF_CXX", "CXX", "PATH", "NATIF_KEEP")]
    for text in (
        *chosen,
        machine,
        *environment,
        cache.headers(),
        _compiler_state(),
        json.dumps(settings.project, sort_keys=True, default=str),
    ):
        _add(digest, text.encode())
    files = {str(file.place): file.path for file in project.files} | {str(path): path for path in project_files(settings)}
    for name in sorted(files):
        _add(digest, name.encode())
        _add(digest, files[name].read_bytes())
    return digest.hexdigest()


def _add(digest: Any, data: bytes) -> None:
    digest.update(len(data).to_bytes(8, "little"))
    digest.update(data)


def project_files(settings: Settings) -> Iterable[Path]:
    """The readme, the licences and the file with the version, which go into the wheel."""
    if settings.root is None:
        return
    readme = settings.project.get("readme", "")
    named = [readme.get("file", "") if isinstance(readme, dict) else readme, settings.version_file]
    yield from (path for name in named if isinstance(name, str) and (path := settings.root / name).is_file())
    patterns = settings.project.get("license-files", ["LICEN*", "COPYING*", "NOTICE*", "AUTHORS*"])
    for pattern in patterns if isinstance(patterns, list) else ():
        yield from (path for path in settings.root.glob(str(pattern)) if path.is_file())


def _compiler_state() -> str:
    """What tells natif's own compiler and the C++ compiler from other versions of them."""
    import importlib.util

    from natif import toolchain

    spec = importlib.util.find_spec("natif._compiler")
    own = ""
    if spec is not None and spec.origin is not None:
        state = os.stat(spec.origin)  # noqa: PTH116
        own = f"{spec.origin}|{state.st_size}|{state.st_mtime_ns}"
    chosen = os.environ.get("NATIF_CXX") or os.environ.get("CXX")
    for candidate in [chosen] if chosen else ["c++", "g++", "clang++"]:
        command = toolchain.resolve(candidate)
        if command is not None:
            return f"{own}|{toolchain.identity(command)}"
    return own


def up_to_date(out: Path, key: str, wanted: str) -> dict[str, Any] | None:
    """What the record says of the last build under this key, where its fingerprint is the wanted one and its outputs are still there."""
    entry = _read(out).get(key)
    if not isinstance(entry, dict) or entry.get("fingerprint") != wanted:
        return None
    try:
        return entry if all(_unchanged(out / name, facts) for name, facts in entry["outputs"].items()) else None
    except (OSError, KeyError, TypeError, AttributeError):
        return None


def _unchanged(file: Path, facts: Mapping[str, Any]) -> bool:
    state = file.stat()
    if [state.st_size, state.st_mtime_ns] == facts["state"]:
        return True
    return bool(sha256(file.read_bytes()).hexdigest() == facts["sha256"])


def remember(out: Path, key: str, wanted: str, outputs: Iterable[str], facts: Mapping[str, Any]) -> None:
    """Records a finished build: `outputs` are paths below `out`, `facts` are kept as they are."""
    described = {}
    for name in sorted(outputs):
        state = (out / name).stat()
        described[name] = {"state": [state.st_size, state.st_mtime_ns], "sha256": sha256((out / name).read_bytes()).hexdigest()}
    content = {**_read(out), key: {"fingerprint": wanted, "outputs": described, **facts}}
    _write(out, content)


def recorded(out: Path) -> list[str]:
    """The outputs, as paths below `out`, that builds have left there."""
    names = {name for entry in _read(out).values() if isinstance(entry, dict) for name in entry.get("outputs", {})}
    return sorted(name for name in names if ".." not in Path(name).parts and not Path(name).is_absolute())


def forget(out: Path) -> None:
    """Removes the record."""
    (out / RECORD).unlink(missing_ok=True)


def _read(out: Path) -> dict[str, Any]:
    with contextlib.suppress(OSError, ValueError):
        content = json.loads((out / RECORD).read_bytes())
        if isinstance(content, dict):
            return content
    return {}


def _write(out: Path, content: dict[str, Any]) -> None:
    new = out / f"{RECORD}.{os.getpid()}"
    new.write_text(json.dumps(content), encoding="utf-8")
    new.replace(out / RECORD)
