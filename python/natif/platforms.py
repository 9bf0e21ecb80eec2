"""The platforms that natif makes native code for, and the refusal of all others.

What ci/platform-contract.json says of each platform, and why, is checked against these profiles and against runtime/platform.h.
"""

import os
import sys
from typing import NamedTuple

from natif.errors import CompileError


class Profile(NamedTuple):
    """A platform: its name, what uname calls the system and the machine, and the C library that it is bound to ("" for the system's)."""

    name: str
    system: str
    machine: str
    libc: str


PROFILES = (
    Profile("linux-x86_64", "Linux", "x86_64", "glibc"),
    Profile("linux-aarch64", "Linux", "aarch64", "glibc"),
    Profile("macos-arm64", "Darwin", "arm64", ""),
)


def current() -> Profile:
    """The profile of this process. CompileError, naming the platform, where there is none."""
    system, machine, libc, bits = facts()
    for profile in PROFILES:
        if (profile.system, profile.machine) == (system, machine) and profile.libc in ("", libc) and bits == 64:
            return profile
    shown = (
        f"{system} on {machine}" + (f" with {libc}" if libc and libc != "glibc" else "") + ("" if bits == 64 else f" ({bits}-bit Python)")
    )
    raise CompileError(
        f"natif: there is no native code for {shown}; natif builds for {', '.join(profile.name for profile in PROFILES)}. "
        "The functions run in Python with NATIF_MODE=python"
    )


def facts() -> tuple[str, str, str, int]:
    """System and machine as uname names them, the C library ("glibc", "" on macOS, "another C library") and Python's bits."""
    name = os.uname()
    libc = "" if name.sysname == "Darwin" else "glibc" if _is_glibc() else "another C library"
    return name.sysname, name.machine, libc, 64 if sys.maxsize > 2**32 else 32


def _is_glibc() -> bool:
    try:
        return (os.confstr("CS_GNU_LIBC_VERSION") or "").startswith("glibc")
    except (ValueError, OSError):
        return False
