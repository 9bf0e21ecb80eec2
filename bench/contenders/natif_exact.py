"""natif as it comes: lane and numerics at their defaults, so eager's bits; the weights passed at each call."""

from __future__ import annotations

from typing import Any, ClassVar

from bench.natif_calls import NatifContender


class Entrant(NatifContender):
    name = "natif_exact"
    label = "natif, exact"
    exact = True
    options: ClassVar[dict[str, Any]] = {"lane": "auto", "numerics": "exact"}
