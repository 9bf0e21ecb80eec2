"""The contenders, in the order in which they are shown. A contender is a module here with a class `Entrant` derived from
bench.case.Contender; those that share their way of working derive from a class beside this folder (tensorflow_calls.py, natif_calls.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from bench.case import Contender

NAMES = (
    "eager",
    "tf_function",
    "concrete_function",
    "xla",
    "bare_tfe",
    "rextio",
    "numpy",
    "jax",
    "onnxruntime",
    "litert",
    "handwritten",
    "natif_tfe",
    "natif_exact",
    "natif_fast",
    "natif_bound",
)
REFERENCE = "eager"


def contenders(threads: int, only: Sequence[str] = ()) -> list[Contender]:
    """All contenders, or those named, and always eager, against whose answers all others are held. ValueError for an unknown name."""
    unknown = [name for name in only if name not in NAMES]
    if unknown:
        raise ValueError(f"no such contender: {', '.join(unknown)}; there are {', '.join(NAMES)}")
    chosen = [name for name in NAMES if not only or name in only or name == REFERENCE]
    return [import_module(f"bench.contenders.{name}").Entrant(threads) for name in chosen]
