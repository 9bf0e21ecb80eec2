"""Times several calls against each other in one process: all of them once in a round, round after round, so that whatever changes on the
machine meanwhile (frequency, neighbours) falls on all alike.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from timeit import Timer

from bench.case import Call

# Threads of the contender before may still be spinning; they get this long to go to sleep.
PAUSE = 0.002  # seconds


def loops_for(call: Call, seconds: float) -> int:
    """How often to repeat the call so that one timing takes about `seconds`."""
    timer, loops = Timer(call), 1
    while (taken := timer.timeit(loops)) < seconds / 4:
        loops *= 2 if taken <= 0 else max(2, min(10, int(seconds / 4 / taken)))
    return max(1, round(loops * seconds / taken))


def in_turn(calls: Mapping[str, Call], rounds: int, seconds: float) -> dict[str, list[float]]:
    """µs a call of each, one number a round. `seconds` is the length of one timing; each round has another order, the same in every
    process, so that no contender always follows the one whose threads spin longest.
    """
    loops = {name: loops_for(call, seconds) for name, call in calls.items()}
    timers = {name: Timer(call) for name, call in calls.items()}
    order, chance = list(calls), random.Random(1)
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        chance.shuffle(order)
        for name in order:
            time.sleep(PAUSE)
            timers[name].timeit(max(1, loops[name] // 20))
            times[name].append(timers[name].timeit(loops[name]) / loops[name] * 1e6)
    return times
