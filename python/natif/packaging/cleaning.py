"""Removing what builds wrote."""

import contextlib
from pathlib import Path

from natif.packaging import state


def clean(out: Path) -> int:
    """Removes the recorded outputs of builds from the folder, then the folders that this leaves empty; returns the number of files."""
    count = 0
    for name in state.recorded(out):
        file = out / name
        if file.is_file() or file.is_symlink():
            file.unlink()
            count += 1
        folder = file.parent
        while folder != out and folder.is_relative_to(out):
            _remove_bytecode(folder)
            with contextlib.suppress(OSError):
                folder.rmdir()
            folder = folder.parent
    state.forget(out)
    with contextlib.suppress(OSError):
        out.rmdir()
    return count


def _remove_bytecode(folder: Path) -> None:
    """What Python left of modules that are gone."""
    cached = folder / "__pycache__"
    if cached.is_dir() and not any(folder.glob("*.py")):
        for file in cached.glob("*.pyc"):
            file.unlink()
        with contextlib.suppress(OSError):
            cached.rmdir()
