"""What the numbers were measured on: the processor, the system and the versions of everything that took part."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path

from bench.case import NotAvailable
from bench.native_extension import compiler

PACKAGES = ("tensorflow-cpu", "numpy", "jax", "jaxlib", "onnxruntime", "onnx", "ai-edge-litert", "rextio", "rextio-tensorflow", "natif")


def cpuinfo(*fields: str) -> str:
    """The first line of /proc/cpuinfo that begins with one of these fields, without the field; empty where there is none."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(fields)), "")


def cpu_name() -> str:
    """The processor as the kernel names it."""
    return cpuinfo("model name") or platform.processor() or platform.machine()


def cpu_features() -> list[str]:
    """Those of the processor's features that decide which kernels run."""
    flags = cpuinfo("flags", "Features").split()
    return [flag for flag in flags if flag in ("avx", "fma", "avx2", "asimd", "sve") or flag.startswith(("avx512", "avx_vnni", "amx"))]


def describe() -> dict[str, object]:
    cores = len(os.sched_getaffinity(0))
    return {
        "cpu": cpu_name(),
        "features": cpu_features(),
        "cores": cores,
        "system": platform.platform(),
        "python": platform.python_version(),
    }


def versions() -> dict[str, str]:
    """The installed packages that take part, and the C++ compiler."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    try:
        found["c++"] = subprocess.run([compiler(), "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    except NotAvailable:
        found["c++"] = "none"
    return found
