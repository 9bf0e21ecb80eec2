"""natif's tfe lane: TensorFlow's own kernels, called without Python."""

from __future__ import annotations

from typing import Any, ClassVar

from bench.natif_calls import NatifContender


class Entrant(NatifContender):
    name = "natif_tfe"
    label = "natif, tfe lane"
    exact = True
    options: ClassVar[dict[str, Any]] = {"lane": "tfe", "numerics": "exact"}
