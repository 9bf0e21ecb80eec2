"""Fuzzes until the time is over: `make fuzz`. Prints each difference with the smallest program found, and what was covered at the end.

Usage: .venv/bin/python tests/fuzz/run.py [--minutes 10] [--seed N] [--lanes graph,passes,tfe,auto] [--functions 40] [--keep-going]
"""

import argparse
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["NATIF_TESTING"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fuzz_lanes import LANES
from fuzzing import Failure, Totals, run_round


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--lanes", default=",".join(LANES))
    parser.add_argument("--functions", type=int, default=40, help="in one source")
    parser.add_argument("--keep-going", action="store_true", help="go on after a difference")
    options = parser.parse_args()
    print(f"seed {options.seed}, lanes {options.lanes}", flush=True)
    totals, failures, end = Totals(), 0, time.monotonic() + 60 * options.minutes
    seed = options.seed
    while time.monotonic() < end and (options.keep_going or not failures):
        try:
            run_round(seed, options.functions, options.lanes.split(","), totals, calls_each=6)
        except Failure as failure:
            failures += 1
            print(f"{failure}\n", flush=True)
        seed += 1
    native = ", ".join(f"{lane} {totals.native[lane]:,} of {calls:,}" for lane, calls in totals.calls.items() if lane in totals.native)
    print(f"{totals.functions:,} functions; native calls: {native}; {totals.errors:,} raised; {failures} differences")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
