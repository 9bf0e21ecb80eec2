"""The extension module natif._compiler, the compiler (src/bind/), as far as a type checker is told: every name is Any."""

from typing import Any

def __getattr__(name: str) -> Any: ...
