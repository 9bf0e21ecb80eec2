"""Putting results in place at once: written aside in the same folder, then renamed, so that an interrupt leaves the old or the new."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from natif.errors import CompileError

_ASIDE = ".natif-"


@contextlib.contextmanager
def aside(out: Path) -> Iterator[Path]:
    """A new folder inside `out` to work in, under a lock on `out`; gone afterwards, with what killed builds left there."""
    import fcntl

    try:
        out.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(out, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise CompileError(f"natif: the folder {out} can't be used: {error.strerror}; choose another with --out") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        for leftover in out.glob(f"{_ASIDE}*"):
            shutil.rmtree(leftover, ignore_errors=True)
        try:
            folder = Path(tempfile.mkdtemp(prefix=_ASIDE, dir=out))
            folder.chmod(0o755)
        except OSError as error:
            raise CompileError(f"natif: the folder {out} can't be written: {error.strerror}; choose another with --out") from None
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(descriptor)


def write_tree(folder: Path, content: Mapping[str, bytes]) -> None:
    """Writes files by their paths below the folder."""
    for name, data in content.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


def replace(new: Path, target: Path) -> None:
    """Moves a file or folder to its place; a folder that is there is moved aside first, beside the new one, and goes with it."""
    if target.is_dir() and not target.is_symlink():
        target.rename(new.parent / f"old-{target.name}")
    new.rename(target)


def write_file(file: Path, content: bytes) -> None:
    """Writes one file, or leaves it as it was. OSError where its folder can't be written."""
    new = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        new.write_bytes(content)
        if file.exists():
            new.chmod(file.stat().st_mode & 0o777)
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)
