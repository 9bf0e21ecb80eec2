"""The extension module natif._runtime, the host side of the ABI (runtime/), as far as a type checker is told: every name is Any."""

from typing import Any

def __getattr__(name: str) -> Any: ...
