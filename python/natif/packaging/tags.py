"""What a wheel says of the machines that it works on: the oldest C library, and the platform tag that follows from it.

The artifacts use the C library and the maths library only, and no Python; so the tag is `py3-none-PLATFORM`. Where auditwheel is installed
and agrees, the platform is `manylinux_…`, which promises that the wheel works on every Linux with that glibc or a later one; otherwise it
is `linux_…`.
"""

import importlib.machinery
import os
import re
import struct
from collections.abc import Iterable
from pathlib import Path

Version = tuple[int, ...]


def glibc_floor(artifacts: Iterable[Path]) -> Version:
    """The latest version of glibc that a symbol of these shared objects needs; (2, 0) where none names one."""
    needed = {version for artifact in artifacts for version in _needed_versions(artifact.read_bytes())}
    return max((tuple(map(int, version.split("."))) for version in needed), default=(2, 0))


def _needed_versions(content: bytes) -> set[str]:
    """The GLIBC_… names of the version needs (`.gnu.version_r`), found through the ELF section table."""
    if content[:6] != b"\x7fELF\x02\x01":
        raise ValueError("natif: the compiler made no 64-bit little-endian ELF file")
    (offset,) = struct.unpack_from("<Q", content, 0x28)
    entry_size, count = struct.unpack_from("<HH", content, 0x3A)
    names: set[str] = set()
    sections = [struct.unpack_from("<IIQQQQIIQQ", content, offset + index * entry_size) for index in range(count)]
    verneed = 0x6FFFFFFE
    for section in sections:
        if section[1] == verneed:
            strings = sections[section[6]][4]
            names.update(_version_names(content, section[4], section[7], strings))
    return {name.removeprefix("GLIBC_") for name in names if re.fullmatch(r"GLIBC_\d+(\.\d+)+", name)}


def _version_names(content: bytes, position: int, files: int, strings: int) -> Iterable[str]:
    for _ in range(files):
        _, versions, _, first, following = struct.unpack_from("<HHIII", content, position)
        at = position + first
        for _ in range(versions):
            _, _, _, name, step = struct.unpack_from("<IHHII", content, at)
            yield content[strings + name : content.index(b"\0", strings + name)].decode()
            at += step
        position += following


def platform_tag(wheel: Path, floor: Version) -> str:
    """The platform tag of a wheel that has the plain one: from what auditwheel says of it, else the plain one."""
    policy = re.search(r'platform tag: "(manylinux_(\d+)_(\d+)_\w+)"', _audited(wheel))
    # Never promise more than both say: auditwheel's policies begin with a C library that may be older than what the code needs.
    if policy and (int(policy[2]), int(policy[3])) >= floor:
        return policy[1]
    return plain_platform()


def plain_platform() -> str:
    """The tag that promises this kind of machine only."""
    return f"linux_{os.uname().machine}"


def _audited(wheel: Path) -> str:
    """What `auditwheel show` says; "" where it is not installed or fails."""
    import importlib.util
    import subprocess
    import sys

    if importlib.util.find_spec("auditwheel") is None:
        return ""
    done = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", str(wheel)], capture_output=True, text=True, check=False, timeout=120
    )
    return " ".join(done.stdout.split()) if done.returncode == 0 else ""


def python_tag(names: Iterable[str]) -> tuple[str, str]:
    """The tags of interpreter and ABI: any Python 3, or this one where the package has extension modules of its own."""
    import sys

    if any(name.endswith(suffix) for name in names for suffix in importlib.machinery.EXTENSION_SUFFIXES if suffix != ".so"):
        this = f"cp{sys.version_info.major}{sys.version_info.minor}"
        return this, this
    return "py3", "none"
