"""natif with `numerics="fast"`: shorter formulas within their stated error; the weights passed at each call."""

from __future__ import annotations

from typing import Any, ClassVar

from bench.natif_calls import NatifContender


class Entrant(NatifContender):
    name = "natif_fast"
    label = "natif, fast"
    exact = False
    options: ClassVar[dict[str, Any]] = {"lane": "auto", "numerics": "fast"}
