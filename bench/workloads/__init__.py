"""The workloads, in the order in which they are run and shown. A workload is a module here with a function `cases()`."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from bench.case import Case

NAMES = ("score", "mlp", "small_batch", "chain", "elementwise", "dense", "tiny_op", "matmul", "boundary")


def cases(only: Sequence[str] = ()) -> list[Case]:
    """All cases, or those of the workloads (`score`) and cases (`score/16`) named by `only`; ValueError for a name that is neither."""
    every = [case for name in NAMES for case in import_module(f"bench.workloads.{name}").cases()]
    known = {case.workload for case in every} | {case.name for case in every}
    unknown = [name for name in only if name not in known]
    if unknown:
        raise ValueError(f"no such workload: {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    return [case for case in every if not only or case.workload in only or case.name in only]
