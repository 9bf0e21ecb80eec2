"""Builds the benchmark's C++ extension (native/ and handwritten/) with the system's compiler into build/bench/, once for each content, and
loads it into the TensorFlow of this process.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sysconfig
from functools import cache
from pathlib import Path
from types import ModuleType

from bench.case import NotAvailable

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build" / "bench"
SOURCES = sorted([*HERE.glob("native/*.cpp"), *HERE.glob("handwritten/*.cpp")])
HEADERS = sorted([*HERE.glob("native/*.h"), *HERE.glob("handwritten/*.h")])
FLAGS = ["-std=c++20", "-O3", "-march=native", "-mprefer-vector-width=512", "-ffp-contract=off", "-fPIC", "-fvisibility=hidden"]
# The peak is that of fused multiply-adds; everything else rounds as eager does.
OWN_FLAGS = {"peak.cpp": ["-ffp-contract=fast"]}


def compiler() -> str:
    """The C++ compiler; NotAvailable where there is none."""
    for candidate in (os.environ.get("NATIF_CXX"), os.environ.get("CXX"), "c++", "g++", "clang++"):
        found = shutil.which(candidate) if candidate else None
        if found:
            return found
    raise NotAvailable("no C++ compiler: none of NATIF_CXX, CXX, c++, g++ and clang++ is there")


def run(command: list[str]) -> str:
    """A command's output; NotAvailable with the end of its errors where it fails."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise NotAvailable(f"the extension does not build: {done.stderr.strip()[-500:]}")
    return done.stdout


def target_of(cxx: str) -> str:
    """The compiler's version and what -march=native means here."""
    return run([cxx, "-march=native", "-E", "-dM", "-x", "c++", os.devnull])


def built() -> Path:
    """The extension's path, built where it is not there yet; safe beside other processes that build it."""
    cxx = compiler()
    digest = hashlib.sha256(target_of(cxx).encode())
    for part in [*map(str, FLAGS), sysconfig.get_path("include"), *(path.read_text() for path in (*SOURCES, *HEADERS))]:
        digest.update(part.encode())
    folder = BUILD / f"native-{digest.hexdigest()[:16]}"
    extension = folder / f"natif_bench{sysconfig.get_config_var('EXT_SUFFIX')}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not extension.exists():
            build(cxx, folder, extension)
    return extension


def build(cxx: str, folder: Path, extension: Path) -> None:
    objects = []
    for source in SOURCES:
        objects.append(str(folder / f"{source.parent.name}-{source.stem}.o"))
        flags = [*FLAGS, *OWN_FLAGS.get(source.name, []), f"-I{sysconfig.get_path('include')}", f"-I{HERE / 'native'}"]
        run([cxx, *flags, "-c", str(source), "-o", objects[-1]])
    partial = extension.with_suffix(".partial")
    run([cxx, "-shared", *objects, "-ldl", "-o", str(partial)])
    partial.rename(extension)


@cache
def load() -> ModuleType:
    """The extension, bound to the wheel in this process and to its eager context; NotAvailable where that can't be done."""
    import tensorflow as tf
    from tensorflow.python.eager import context

    spec = importlib.util.spec_from_file_location("natif_bench", built())
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    context.ensure_initialized()
    root = Path(tf.__file__).parent
    images = ["libtensorflow_cc.so.2", "libtensorflow_framework.so.2", "python/lib_pywrap_tensorflow_common.so"]
    try:
        module.open_wheel(*(str(root / image) for image in images), context.context()._handle)
    except RuntimeError as error:
        raise NotAvailable(str(error)) from error
    return module
