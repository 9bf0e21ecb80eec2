"""Starts the worker processes of a run, each with an environment that sets the number of threads of every library and keeps natif from
falling back to Python unseen.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TIMEOUT = 3600  # seconds
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NATIF_NUM_THREADS", "NPROC")


def environment(threads: int) -> dict[str, str]:
    """A worker's environment; threads 0 leaves every library its own default."""
    # NumPy is measured with the kernels that it chooses for this processor, whatever the surroundings prescribe.
    variables = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_") and name not in THREAD_VARIABLES}
    variables |= {"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"}
    variables |= {"NATIF_MODE": "native", "NATIF_CACHE_DIR": str(ROOT / "build" / "bench" / "natif-cache")}
    if threads:
        variables |= dict.fromkeys(THREAD_VARIABLES, str(threads))
        variables["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    return variables


def python(arguments: list[str], threads: int, extra: dict[str, str] | None = None) -> str:
    """Runs the interpreter with these arguments; its standard output. A worker that fails ends the run with the end of its errors."""
    command, variables = [sys.executable, *arguments], environment(threads) | (extra or {})
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=TIMEOUT, cwd=ROOT)
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)[:200]} ended with {done.returncode}:\n{done.stderr[-3000:]}")
    return done.stdout


def last_json(output: str) -> Any:
    """The JSON on the last line of a worker's output; libraries may have printed before it."""
    return json.loads(output.strip().splitlines()[-1])
