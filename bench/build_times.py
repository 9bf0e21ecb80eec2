"""What comes before the first answer: for each contender that builds something, the seconds from the Python function to the first result of
the scoring function at batch 1, in a process of its own that has imported everything first. For natif also from its cache; the time of
`import natif`; the size of the artifact; and what 100,000 calls leave behind in memory.

Usage as a worker: python -m bench.build_times CONTENDER
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from bench import contenders, processes, workloads
from bench.case import Call, NotAvailable
from bench.contenders import rextio

CASE = "score/1"
BUILDERS = ("tf_function", "concrete_function", "xla", "jax", "onnxruntime", "litert")
CALLS = 100_000
IMPORT = """
import sys, time, numpy
start = time.perf_counter()
import natif
print("[%r, %d]" % (time.perf_counter() - start, "tensorflow" in sys.modules))
"""


def resident_bytes() -> int:
    """The process's resident memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def growth(call: Call, calls: int) -> int:
    """How many bytes of resident memory `calls` calls add, after as many to settle: a process touches memory that it has for the first
    time long after its first calls, natif's and eager's alike.
    """
    for _ in range(calls):
        call()
    before = resident_bytes()
    for _ in range(calls):
        call()
    return resident_bytes() - before


def build_once(name: str) -> dict[str, Any]:
    """In this process: builds the case for one contender and runs it once."""
    (case,) = workloads.cases((CASE,))
    eager, *others = contenders.contenders(1, (name,))
    contender = others[0] if others else eager
    for each in (eager, contender):
        each.require()
    reference = eager.value(eager.prepare(case)())  # TensorFlow's context exists from here on
    start = time.perf_counter()
    call = contender.prepare(case)
    prepared = time.perf_counter()
    result = call()
    finished = time.perf_counter()
    if (contender.value(result) != reference).any():
        raise RuntimeError(f"{name} gave a wrong answer")
    found = {"prepare": prepared - start, "first_call": finished - prepared}
    return found | ({"growth": growth(call, CALLS)} if name.startswith("natif") else {})


def in_own_process(name: str, cache: str | None = None) -> dict[str, Any]:
    """build_once in a new process, with natif's cache in the given folder."""
    variables = {} if cache is None else {"NATIF_CACHE_DIR": cache}
    found: dict[str, Any] = processes.last_json(processes.python(["-m", "bench.build_times", name], 1, variables))
    return found


def cold_build(name: str, times: int) -> dict[str, Any]:
    """A contender that keeps nothing between processes, `times` times."""
    return {"cold": [in_own_process(name) for _ in range(times)]}


def natif_build(times: int) -> dict[str, Any]:
    """natif cold and from its cache, each `times` times, with what the cold build leaves on disk."""
    cold, warm, sizes = [], [], []
    for _ in range(times):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(in_own_process("natif_exact", cache))
            sizes.append(max((path.stat().st_size for path in Path(cache).rglob("*.so")), default=0))
            warm.append(in_own_process("natif_exact", cache))
    return {"cold": cold, "warm": warm, "artifact_bytes": max(sizes)}


def import_seconds(times: int) -> list[float]:
    """`import natif` after NumPy, each time in a new process. RuntimeError where that imports TensorFlow."""
    found = [processes.last_json(processes.python(["-c", IMPORT], 0)) for _ in range(times)]
    if any(imported for _, imported in found):
        raise RuntimeError("import natif imports TensorFlow")
    return [seconds for seconds, _ in found]


def rextio_build() -> dict[str, Any]:
    """rextio on the scoring program alone, cold, once: it takes tens of seconds."""
    rextio.require_tools()
    with tempfile.TemporaryDirectory() as folder:
        name = f"{rextio.PREFIX}score.py"
        start = time.perf_counter()
        rextio.build_in(Path(folder) / "project", {name: rextio.sources()[name]})
        return {"cold": [{"prepare": time.perf_counter() - start, "first_call": 0.0}]}


def measure(times: int, only: Sequence[str], with_rextio: bool) -> dict[str, Any]:
    """By contender: lists of {prepare, first_call} in seconds under cold (and warm), or the reason why there are none."""
    jobs: dict[str, Callable[[], dict[str, Any]]] = {name: partial(cold_build, name, times) for name in BUILDERS}
    jobs["natif_exact"] = lambda: natif_build(times) | {"import_seconds": import_seconds(2 * times + 1)}
    if with_rextio:
        jobs["rextio"] = rextio_build
    found: dict[str, Any] = {}
    for name, job in jobs.items():
        if only and name not in only:
            continue
        print(f"  build time: {name}", file=sys.stderr, flush=True)
        try:
            found[name] = job()
        except (RuntimeError, NotAvailable) as error:
            found[name] = {"reason": str(error).strip().splitlines()[-1]}
    return found


def seconds(entry: dict[str, Any], which: str) -> float | None:
    """The median of build and first call together, cold or warm."""
    runs = entry.get(which)
    return median(run["prepare"] + run["first_call"] for run in runs) if runs else None


if __name__ == "__main__":
    print(json.dumps(build_once(sys.argv[1])))
