"""rextio with rextio-tensorflow: the same programs compiled to Rust, each op through the TFE C API. Needs cargo; built once for each
content of the programs (which takes it tens of seconds), and never timed where it fell back to Python.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

from bench.case import Call, Case, NotAvailable
from bench.native_extension import BUILD
from bench.tensorflow_calls import TensorFlowContender

PROGRAMS = sorted(path for path in (Path(__file__).resolve().parent.parent / "programs").glob("*.py") if path.stem != "__init__")
PREFIX = "rextio_"
TIMEOUT = 900  # seconds


def sources() -> dict[str, str]:
    """The programs by file name, importing rextio's markers in place of natif's, which is all that differs."""
    return {f"{PREFIX}{path.name}": path.read_text().replace("natif.types", "rextio_tensorflow.types") for path in PROGRAMS}


def require_tools() -> None:
    for name in ("rextio", "rextio_tensorflow"):
        if importlib.util.find_spec(name) is None:
            raise NotAvailable(f"{name.replace('_', '-')} is not installed")
    if shutil.which("cargo") is None:
        raise NotAvailable("cargo is not installed")


def build_in(folder: Path, files: dict[str, str]) -> None:
    """Makes a rextio project of the files in the folder and builds it; NotAvailable where that fails."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    command = ["build", str(folder), "--enable-plugin", "rextio-tensorflow", "--fallback-threshold", "0", "--rust-build-tool", "cargo"]
    tool = [sys.executable, "-c", "from rextio.cli.main import main; raise SystemExit(main())"]
    try:
        done = subprocess.run([*tool, *command], capture_output=True, text=True, timeout=TIMEOUT, cwd=folder)
    except subprocess.TimeoutExpired as error:
        raise NotAvailable(f"rextio build took more than {TIMEOUT} s") from error
    if done.returncode or "native build: built" not in done.stdout:
        raise NotAvailable(f"rextio build failed: {(done.stderr or done.stdout).strip()[-500:]}")


@cache
def package() -> Path:
    """The folder of the built modules, built where it is not there yet."""
    require_tools()
    digest = hashlib.sha256("\0".join([*sources(), *sources().values()]).encode()).hexdigest()[:16]
    folder = BUILD / f"rextio-{digest}"
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / ".rextio.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "built").exists():
            build_in(folder, sources())
            (folder / "built").touch()
    return folder / ".rextio" / "build" / "python"


class Entrant(TensorFlowContender):
    name = "rextio"
    label = "rextio-tensorflow"
    exact = True

    def require(self) -> None:
        super().require()
        os.environ["REXTIO_NATIVE_MODE"] = "native"  # a fallback is an error
        folder = str(package())
        if folder not in sys.path:
            sys.path.append(folder)

    def function_of(self, case: Case, witness: bool) -> Callable[..., Any]:
        """The native function behind rextio's dispatcher; NotAvailable where it stayed Python."""
        python = case.target(witness)
        name = PREFIX + python.__module__.rpartition(".")[2]
        native = importlib.import_module("_rextio_native")
        if not hasattr(native, f"{name}__{python.__name__}"):
            raise NotAvailable(f"{python.__name__} is not native in rextio")
        function: Callable[..., Any] = getattr(importlib.import_module(name), python.__name__)
        return function

    def prepare(self, case: Case, witness: bool = False) -> Call:
        return partial(self.function_of(case, witness), *self.arguments(case))
