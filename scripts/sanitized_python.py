"""Runs Python tests with the runtime, and the code that natif emits, under the address and undefined-behaviour sanitizers.

Usage: .venv/bin/python scripts/sanitized_python.py [pytest's arguments]      default: the runtime's tests that stay in one process

The sanitizers' libraries have to come first in a process, so this starts itself again under LD_PRELOAD. The runtime is that of
build/asan-ubsan (make sanitized-units), the emitted code is compiled with the same sanitizers. Leaks are not looked for: Python and
TensorFlow leave much behind at exit; scripts/soak.py watches the process's size instead.
"""

import importlib.util
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SANITIZERS = "-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
RUNTIME = ROOT / "build" / "asan-ubsan" / "runtime" / f"_runtime{sysconfig.get_config_var('EXT_SUFFIX')}"
DEFAULT = ["-q", "-p", "no:cacheprovider", *(f"tests/runtime/test_{name}.py" for name in ("calls", "errors", "guards"))]


def start_again() -> None:
    """Replaces this process by one with the sanitizers in front of everything."""
    compiler = os.environ.get("CXX", "g++")
    libraries = [
        subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()
        for name in ("libasan.so", "libubsan.so", "libstdc++.so.6")
    ]
    environment = {
        "LD_PRELOAD": ":".join(libraries),
        # TensorFlow frees with delete what malloc gave, and defines some symbols twice.
        "ASAN_OPTIONS": "detect_leaks=0:alloc_dealloc_mismatch=0:new_delete_type_mismatch=0:detect_odr_violation=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "NATIF_CXX": f"{compiler} {SANITIZERS}",
        "NATIF_SANITIZED": "1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **environment})


def use_sanitized_runtime() -> None:
    """Makes natif._runtime the sanitized one."""
    import natif

    spec = importlib.util.spec_from_file_location("natif._runtime", RUNTIME)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{RUNTIME} is missing: run make sanitized-units")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules["natif._runtime"] = module
    natif._runtime = module


def main() -> int:
    if "NATIF_SANITIZED" not in os.environ:
        start_again()
    os.environ.pop("LD_PRELOAD")  # of processes that the tests start, compilers among them
    use_sanitized_runtime()
    import pytest

    return int(pytest.main(sys.argv[1:] or DEFAULT))


if __name__ == "__main__":
    sys.exit(main())
