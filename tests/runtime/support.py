"""Builds the hand-written artifact and makes native functions from it, with a provider that does what natif's own does."""

from __future__ import annotations

import functools
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Callable
from typing import Any

from natif import _runtime

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]


@functools.cache
def artifact_path() -> str:
    """The artifact, built once in a process; a test's own processes use the test's."""
    if "NATIF_TEST_ARTIFACT" in os.environ:
        return os.environ["NATIF_TEST_ARTIFACT"]
    path = pathlib.Path(tempfile.mkdtemp(prefix="natif-test-")) / "artifact.so"
    command = ["g++", "-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-fvisibility=hidden", f"-I{ROOT}"]
    subprocess.run([*command, str(HERE / "artifact.cpp"), "-o", str(path)], check=True)
    return str(path)


@functools.cache
def artifact() -> Any:
    return _runtime.Artifact(artifact_path())


class Provider:
    """Hands out the artifact; counts what it was asked for."""

    def __init__(self, names: dict[str, Any], load: Callable[[], Any] = artifact) -> None:
        self.names, self.load = names, load
        self.loads = 0
        self.reported: list[tuple[str, BaseException]] = []

    def artifact(self, name: str) -> Any:
        self.loads += 1
        return self.load()

    def report(self, name: str) -> str:
        return f"report of {name}"

    def source(self, name: str, kind: str) -> str:
        return f"{kind} of {name}"

    def bind(self, function: Any, tensors: dict[str, Any]) -> Any:
        options = {**function.options, "bound": {**(function.options.get("bound") or {}), **tensors}, "origin": function}
        return _runtime.NativeFunction(function.python, self, function.__qualname__, options)

    def hidden(self, name: str) -> dict[str, Any]:
        return self.names


def native(python: Callable[..., Any], *, load: Callable[[], Any] = artifact, **options: Any) -> Any:
    """The native function for one of the bodies."""
    return _runtime.NativeFunction(python, Provider(python.__globals__, load), python.__qualname__, options)
