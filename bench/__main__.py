"""Runs the suite: worker processes in turn with one thread and with default threads, then build times, then the report.

    python -m bench                       everything, three processes each way: about a quarter of an hour
    python -m bench --quick               one process, few rounds: a look, not a result
    python -m bench --only score/1 --contender natif_exact --threads 1
    python -m bench --readme              a full run that also renews the README's tables

A full run writes bench/results/results.json and chart.svg; any other writes the same files into build/bench/. The exit code is 1 where a
contender gave a wrong answer or failed; a missed bar is reported and is no failure.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import build_times, chart, contenders, machine, processes, readme, report, workloads
from bench.bars import verdicts
from bench.summary import Results
from bench.worker import Plan

RESULTS = processes.ROOT / "bench" / "results"
PARTIAL = processes.ROOT / "build" / "bench"
LEAST_PROCESSES = 3


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one process, few rounds")
    parser.add_argument(
        "--only", action="append", default=[], metavar="WORKLOAD", help="a workload, a case, or build_time; may be repeated"
    )
    parser.add_argument("--contender", action="append", default=[], help="may be given more than once; eager always runs")
    parser.add_argument("--threads", choices=("one", "default", "both"), default="both")
    parser.add_argument("--processes", type=int, help=f"for each thread setting; {LEAST_PROCESSES} if not given")
    parser.add_argument("--rounds", type=int, default=21, help="timings of a contender in a process")
    parser.add_argument("--seconds", type=float, default=0.01, help="length of one timing")
    parser.add_argument("--readme", action="store_true", help="also renew the README's tables")
    parser.add_argument("--list", action="store_true", help="name the workloads and contenders")
    return parser.parse_args()


def is_full(options: argparse.Namespace) -> bool:
    """Whether the run covers enough to be kept as the suite's result."""
    narrowed = options.quick or options.only or options.contender or options.threads == "default"
    return not narrowed and options.processes >= LEAST_PROCESSES


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """All processes of the run, and what they found."""
    settings = {"one": [1], "default": [0], "both": [1, 0]}[options.threads]
    only, chosen = tuple(name for name in options.only if name != "build_time"), tuple(options.contender)
    found: list[Any] = []
    if only or not options.only:
        for turn in range(options.processes):
            for threads in settings:
                print(f"process {turn + 1} of {options.processes}, {report.threads_text(threads)}", file=sys.stderr, flush=True)
                plan = Plan(threads, options.rounds, options.seconds, only, chosen)
                load = os.getloadavg()[0]
                output = processes.python(["-m", "bench.worker", json.dumps(asdict(plan))], threads)
                found.append(processes.last_json(output) | {"load": load})
    wants_build = "build_time" in options.only or not options.only
    build = build_times.measure(1 if options.quick else LEAST_PROCESSES, chosen, with_rextio=not options.quick) if wants_build else {}
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine.describe(),
        "versions": machine.versions(),
        "settings": {"rounds": options.rounds, "seconds": options.seconds, "processes": options.processes},
        "processes": found,
        "build": build,
    }


def write(content: dict[str, Any], folder: Path) -> None:
    """results.json, with the bars judged, and the chart where there is one to draw."""
    folder.mkdir(parents=True, exist_ok=True)
    results = Results(content)
    content["bars"] = [asdict(verdict) for verdict in verdicts(results)]
    (folder / "results.json").write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    settings = results.settings()
    if any(case.startswith("score/") for case in results.cases()):
        (folder / "chart.svg").write_text(chart.svg(results, 1 if 1 in settings else settings[0]))
    print(f"\nwritten to {folder.relative_to(processes.ROOT)}", file=sys.stderr)


def faults(content: dict[str, Any]) -> list[str]:
    """Every contender that gave a wrong answer or failed."""
    return sorted(
        {
            f"{case}: {name} {entry['status']}: {entry['reason']}"
            for process in content["processes"]
            for case, entries in process["cases"].items()
            for name, entry in entries.items()
            if entry["status"] in ("wrong", "failed")
        }
    )


def main() -> int:
    options = arguments()
    if options.list:
        print("workloads:", ", ".join([case.name for case in workloads.cases()] + ["build_time"]))
        print("contenders:", ", ".join(contenders.NAMES))
        return 0
    options.processes = options.processes or (1 if options.quick else LEAST_PROCESSES)
    if options.quick:
        options.rounds, options.seconds = 5, 0.003
    if options.readme and not is_full(options):
        sys.exit("--readme needs a full run: every workload and contender, with one thread, in at least three processes")
    workloads.cases(tuple(name for name in options.only if name != "build_time"))  # an unknown name ends here, not in a worker
    contenders.contenders(1, tuple(options.contender))
    content = measure(options)
    write(content, RESULTS if is_full(options) else PARTIAL)
    print(report.text(Results(content)))
    if options.readme:
        readme.fill(processes.ROOT / "README.md", Results(content))
    wrong = faults(content)
    for line in wrong:
        print(f"FAULT {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
