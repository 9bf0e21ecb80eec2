"""Writes a wheel: a zip file whose bytes follow from its content alone. Names are sorted, times are SOURCE_DATE_EPOCH's or 1980's."""

import base64
import hashlib
import os
import time
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from natif._version import __version__

_FIRST_TIME = 315_532_800  # the first of January 1980


@dataclass(frozen=True)
class Tags:
    """`python`-`abi`-`platform`."""

    python: str
    abi: str
    platform: str

    def __str__(self) -> str:
        return f"{self.python}-{self.abi}-{self.platform}"


def wheel_name(name: str, version: str, tags: Tags) -> str:
    """The wheel's file name, of a normalized name."""
    return f"{name}-{version.replace('-', '_')}-{tags}.whl"


def write(file: Path, *, dist_info: str, tags: Tags, content: Mapping[str, bytes], metadata: Mapping[str, bytes]) -> None:
    """Writes the wheel: `content` by path, then `metadata` by name in the folder `dist_info`, with WHEEL and RECORD added."""
    pure = tags.platform == "any"
    about = f"Wheel-Version: 1.0\nGenerator: natif {__version__}\nRoot-Is-Purelib: {str(pure).lower()}\nTag: {tags}\n"
    entries = {name: content[name] for name in sorted(content)}
    entries |= {f"{dist_info}/{name}": data for name, data in sorted({**metadata, "WHEEL": about.encode()}.items())}
    record = "".join(f"{_quoted(name)},sha256={_digest(data)},{len(data)}\n" for name, data in entries.items())
    record_name = f"{dist_info}/RECORD"
    entries[record_name] = f"{record}{record_name},,\n".encode()
    when = time.gmtime(source_time())[:6]
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in entries.items():
            archive.writestr(_entry(name, when), data, compresslevel=6)


def _entry(name: str, when: tuple[int, int, int, int, int, int]) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, when)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system = 3
    entry.external_attr = (0o100755 if name.endswith(".so") else 0o100644) << 16
    return entry


def source_time() -> int:
    """The time that outputs carry, in seconds since 1970: SOURCE_DATE_EPOCH, but none before what a zip file can say."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    return max(int(epoch) if epoch.isdecimal() else 0, _FIRST_TIME)


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _quoted(name: str) -> str:
    """As the csv format has it."""
    return '"' + name.replace('"', '""') + '"' if any(character in name for character in ',"\n\r') else name
