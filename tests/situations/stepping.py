"""The steps of a script that runs in a process of its own, where each test looks up the one that it is about."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable


def step(function: Callable[[], None]) -> None:
    """A decorator that runs the function at once and prints its name and "ok", or how it failed."""
    try:
        function()
        outcome = "ok"
    except Exception:
        outcome = traceback.format_exc()
    print(json.dumps([function.__name__, outcome]), flush=True)
