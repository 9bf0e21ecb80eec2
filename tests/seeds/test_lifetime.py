"""Nothing grows: 50,000 native calls of a scoring function leave the process as large as it was. scripts/soak.py makes 1,000,000."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_no_growth_over_50_000_calls() -> None:
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "NATIF_TESTING": "1"}
    soak = [sys.executable, str(ROOT / "scripts" / "soak.py"), "--calls", "50000"]
    done = subprocess.run(soak, env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "50,000 calls" in done.stdout
