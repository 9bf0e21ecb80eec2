"""ci/platform-contract.json and the code say the same, and what the contract calls unsupported is a clear error when something is built."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import natif
from natif import platforms, toolchain

ROOT = Path(__file__).resolve().parents[1]
CONTRACT = json.loads((ROOT / "ci" / "platform-contract.json").read_text())
PROFILES = CONTRACT["profiles"]

# What a compiler for the platform defines, as far as it decides the profile. The sources are read by this machine's preprocessor.
DEFINED = {
    "linux-x86_64": ["__linux__", "__x86_64__"],
    "linux-aarch64": ["__linux__", "__aarch64__"],
    "macos-arm64": ["__APPLE__", "__aarch64__"],
    "linux-i686": ["__linux__", "__i386__"],
    "linux-x32": ["__linux__", "__x86_64__", "__ILP32__"],
    "linux-armv7": ["__linux__", "__arm__"],
    "macos-x86_64": ["__APPLE__", "__x86_64__"],
    "windows": ["_WIN32", "__x86_64__"],
}


def preprocessed(platform: str) -> subprocess.CompletedProcess[str]:
    """runtime/platform.h as a compiler for the platform reads it."""
    words = sorted({word for words in DEFINED.values() for word in words} | {"__arm64__"})
    flags = [*(f"-U{word}" for word in words), *(f"-D{word}=1" for word in DEFINED[platform])]
    command = [*toolchain.find_compiler().command, "-std=c++20", "-E", "-P", *flags, "-x", "c++", str(ROOT / "runtime" / "platform.h")]
    return subprocess.run(command, capture_output=True, text=True)


def test_every_cell_is_there_with_a_reason() -> None:
    cells = {(cell["system"], cell["machine"]) for cell in CONTRACT["platforms"]}
    assert cells == {(system, machine) for system in ("Linux", "macOS") for machine in ("x86-64", "i686", "ARMv7", "AArch64")}
    assert len(CONTRACT["platforms"]) == len(cells)
    for cell in CONTRACT["platforms"]:
        assert cell["status"] in CONTRACT["statuses"]
        assert cell["why"].endswith(".")
        assert (cell["profile"] is None) == (cell["status"] == "unsupported")
    assert {cell["profile"] for cell in CONTRACT["platforms"]} - {None} == set(PROFILES)


def test_the_package_knows_the_same_profiles() -> None:
    known = {profile.name: (profile.system, profile.machine, profile.libc) for profile in platforms.PROFILES}
    assert known == {name: (profile["system"], profile["machine"], profile["libc"]) for name, profile in PROFILES.items()}
    assert {target for profile in PROFILES.values() for target in profile["targets"]} == set(toolchain.TARGETS)


@pytest.mark.parametrize("name", PROFILES)
def test_the_runtime_knows_the_same_names(name: str) -> None:
    done = preprocessed(name)
    assert done.returncode == 0, done.stderr
    (values,) = re.findall(r"kPlatform = \{(.*?)\};", done.stdout, re.DOTALL)
    profile = PROFILES[name]
    images = profile["images"]
    expected = [name, profile["machine"], images["eager"], images["framework"], images["bridge_until_2_18"], images["bridge_from_2_19"]]
    assert re.findall(r'"([^"]*)"', values) == expected


@pytest.mark.parametrize("name", sorted(set(DEFINED) - set(PROFILES)))
def test_the_runtime_can_not_be_built_elsewhere(name: str) -> None:
    done = preprocessed(name)
    assert done.returncode != 0
    assert "natif runs on Linux with glibc on x86-64 and AArch64, and on macOS on ARM64" in done.stderr


def test_the_libraries_are_opened_with_the_platforms_own_flags() -> None:
    source = (ROOT / "runtime" / "tensorflow_images.cpp").read_text()
    assert "dlopen(paths[i].c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)" in source
    assert "#include <dlfcn.h>" in source
    here = PROFILES[platforms.current().name]["dlopen"]
    assert here == {name: getattr(os, name) for name in here}


def test_the_versions_are_those_that_the_runtime_knows() -> None:
    source = (ROOT / "runtime" / "tensorflow_images.cpp").read_text()
    table = dict(re.findall(r'\{"(2\.\d+)\.", kPlatform\.(\w+)\}', source))
    assert set(CONTRACT["tensorflow"]) == set(table)
    for version, record in CONTRACT["tensorflow"].items():
        assert record["bridge"] == PROFILES["linux-x86_64"]["images"][table[version]]
        assert record["outcome"] == "passed", version
        assert record["version"].startswith(f"{version}.")
    assert CONTRACT["python"] == {"implementation": "CPython", "version": "3.11"}


ELSEWHERE: list[tuple[dict[str, Any], str]] = [
    ({"machine": "i686"}, "Linux on i686"),
    ({"machine": "armv7l"}, "Linux on armv7l"),
    ({"machine": "x86_64", "bits": 32}, r"Linux on x86_64 \(32-bit Python\)"),
    ({"machine": "x86_64", "libc": None}, "Linux on x86_64 with another C library"),
    ({"system": "Darwin", "machine": "x86_64"}, "Darwin on x86_64"),
    ({"system": "FreeBSD", "machine": "amd64"}, "FreeBSD on amd64"),
]


def pretend(monkeypatch: pytest.MonkeyPatch, machine: str, system: str = "Linux", bits: int = 64, libc: str | None = "glibc 2.36") -> None:
    def confstr(name: str) -> str:
        if libc is None:
            raise ValueError("unrecognized configuration name")
        return libc

    monkeypatch.setattr(platforms.os, "uname", lambda: SimpleNamespace(sysname=system, machine=machine))
    monkeypatch.setattr(platforms.os, "confstr", confstr)
    monkeypatch.setattr(platforms.sys, "maxsize", 2 ** (bits - 1) - 1)


@pytest.mark.parametrize(("facts", "shown"), ELSEWHERE, ids=[shown for _, shown in ELSEWHERE])
def test_building_elsewhere_is_an_error_that_names_the_platform(
    facts: dict[str, Any], shown: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NATIF_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "elsewhere.py").write_text(
        "import tensorflow as tf\nfrom natif.types import *\ndef f(x: TensorF32Cpu1D) -> TensorF32Cpu1D:\n    return tf.nn.relu(x)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "elsewhere", raising=False)
    import elsewhere  # type: ignore[import-not-found]

    pretend(monkeypatch, **facts)
    with pytest.raises(natif.CompileError, match=f"^natif: there is no native code for {shown}; natif builds for linux-x86_64, "):
        natif.compile(elsewhere.f, require=True)
    sys.modules.pop("elsewhere")


@pytest.mark.parametrize("profile", platforms.PROFILES, ids=lambda profile: profile.name)
def test_each_profile_is_recognised(profile: platforms.Profile, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, profile.machine, profile.system)
    assert platforms.current() is profile


def test_claiming_needs_no_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    from natif import _compiler

    pretend(monkeypatch, "riscv64")
    source = "import tensorflow as tf\nfrom natif.types import *\ndef f(x: TensorF32Cpu1D) -> TensorF32Cpu1D:\n    return tf.nn.relu(x)\n"
    (claim,) = _compiler.claim_module(ast.parse(source), "program.py", "program")
    assert claim["native"]
