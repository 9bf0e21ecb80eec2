"""A short soak: `make soak` makes ten million calls."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOAK = Path(__file__).resolve().parents[2] / "scripts" / "soak.py"


@pytest.mark.situation(
    "State",
    "millions of calls, some refused, declined, under tapes or in threads",
    eager="memory as before",
    natif="memory as before; `make soak` makes ten million",
)
def test_memory_does_not_grow() -> None:
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run([sys.executable, SOAK, "--calls", "100000"], env=environment, capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stdout + done.stderr
