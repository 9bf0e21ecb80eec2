"""The cache's folder: where it is, whether it can be trusted, what the runtime keeps in it. Shipped packages need no more of the cache."""

import contextlib
import errno
import functools
import os
import stat
from pathlib import Path

from natif.errors import CacheError


def folder_name() -> Path:
    """Where the cache is, whether or not it exists."""
    chosen = os.environ.get("NATIF_CACHE_DIR")
    if chosen:
        return Path(chosen).expanduser().absolute()
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (base if base.is_absolute() else Path("~/.cache").expanduser()) / "natif"


def folder() -> Path:
    """The cache's folder, created where it is missing. CacheError where others could have put code there."""
    path = folder_name()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError:
        raise NotADirectoryError(errno.ENOTDIR, "it is a file", str(path)) from None
    state = path.stat()
    if state.st_uid != os.geteuid():
        raise CacheError(f"natif: the cache folder {path} belongs to another user; set NATIF_CACHE_DIR to a folder of your own")
    if stat.S_IMODE(state.st_mode) & 0o022:
        raise CacheError(f"natif: others can write to the cache folder {path}; run chmod 700 on it or set NATIF_CACHE_DIR")
    return path


@functools.cache
def remember_self_check() -> None:
    """Lets the runtime keep in the folder what it finds out about this machine; without a folder each process finds it out anew."""
    from natif import _runtime

    with contextlib.suppress(OSError, CacheError):
        _runtime.remember_self_check(str(folder()))
