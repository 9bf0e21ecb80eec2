"""Runs a script of this folder in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def outcomes(script: str, *arguments: str, **environment: str) -> dict[str, str]:
    """Runs a script of this folder in a process of its own; what each of its steps gave, and how it ended.

    A step is a line of JSON on standard output, [name, "ok" or the traceback]. See stepping.py.
    """
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), *(path for path in sys.path if path)]), **environment}
    command = [sys.executable, str(HERE / script), *arguments]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=250)
    steps = dict(json.loads(line) for line in done.stdout.splitlines() if line.startswith('["'))
    steps["end"] = "ok" if done.returncode == 0 and "Traceback" not in done.stderr else f"exit {done.returncode}\n{done.stderr}"
    return steps
