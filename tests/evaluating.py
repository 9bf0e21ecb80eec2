"""Functions that the graph evaluator runs, from the graph's text form."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from natif import _compiler, _runtime


class Provider:
    """What a NativeFunction asks for its artifact."""

    def __init__(self, artifact: Any, bodies: dict[str, Callable[..., Any]]) -> None:
        self._artifact = artifact
        self._bodies = bodies

    def artifact(self, name: str) -> Any:
        return self._artifact

    def report(self, name: str) -> None:
        return None

    def source(self, name: str, kind: str) -> str:
        return ""

    def hidden(self, name: str) -> dict[str, Any]:
        return self._bodies[name].__globals__


def evaluated(
    texts: str | Iterable[str], bodies: dict[str, Callable[..., Any]], *, module: str = "evaluated", file: str = "<evaluated>"
) -> dict[str, Any]:
    """The functions of the graphs' texts, by name. `bodies` are their Python bodies, whose signatures they have and whose module-level
    names they read; errors show lines of `file`."""
    texts = [texts] if isinstance(texts, str) else list(texts)
    artifact = _runtime.Artifact.of_module(_compiler.evaluated_module(module, file, texts))
    provider = Provider(artifact, bodies)
    options = {"mode": "native", "on_mismatch": "raise", "require": True, "bound": None}
    return {name: _runtime.NativeFunction(body, provider, name, options) for name, body in bodies.items()}
