"""The benchmark suite's own logic: its lists are complete, a wrong answer is never timed, ratios and bars are computed as stated, the
chart and the README's tables are made from the results alone. No contender is run here but NumPy.
"""

from __future__ import annotations

import copy
import itertools
import json
import mmap
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench import bars, build_times, chart, checks, contenders, readme, report, summary, timing, worker, workloads  # noqa: E402
from bench.case import Array, Call, Case, Contender, NotAvailable  # noqa: E402
from bench.contenders import numpy as numpy_contender  # noqa: E402


def stems(folder: str) -> set[str]:
    return {path.stem for path in (ROOT / "bench" / folder).glob("*.py")} - {"__init__"}


def test_every_file_of_a_workload_and_a_contender_is_listed() -> None:
    assert set(workloads.NAMES) == stems("workloads") == stems("programs")
    assert set(contenders.NAMES) == stems("contenders")
    assert [contender.name for contender in contenders.contenders(1)] == list(contenders.NAMES)


def test_cases_are_named_apart_and_say_what_they_need() -> None:
    cases = workloads.cases()
    assert len({case.name for case in cases}) == len(cases)
    for case in cases:
        assert set(case.data) <= set(case.tensors)
        assert set(case.only) <= set(contenders.NAMES)
        assert case.name.partition("/")[0] == case.workload
        text = (ROOT / "bench" / "programs" / f"{case.workload}.py").read_text()
        assert all(f"def {name}(" in text for name in (case.function, case.witness) if name)


def test_cases_are_the_same_in_every_process_and_chosen_by_name() -> None:
    first, second = workloads.cases(("score/16",)), workloads.cases(("score/16",))
    assert all((first[0].tensors[name] == second[0].tensors[name]).all() for name in first[0].tensors)
    assert [case.name for case in workloads.cases(("chain", "score/1"))] == ["score/1", "chain"]
    with pytest.raises(ValueError, match="no such workload: scoring"):
        workloads.cases(("scoring",))
    with pytest.raises(ValueError, match="no such contender: torch"):
        contenders.contenders(1, ("torch",))


@pytest.mark.parametrize("name", ["score/16", "small_batch/16", "chain"])
def test_answers_are_not_degenerate(name: str) -> None:
    (case,) = workloads.cases((name,))
    classes = numpy_contender.Entrant(1).prepare(case)()
    probabilities = numpy_contender.Entrant(1).prepare(case, witness=True)()
    assert len(np.unique(classes)) > 3
    assert np.isfinite(probabilities).all()
    np.testing.assert_allclose(probabilities.sum(axis=-1), 1, rtol=1e-5)
    assert checks.clear_rows(probabilities).mean() > 0.9


def test_a_wrong_answer_is_named() -> None:
    reference = np.array([[0.25, 0.75], [0.9, 0.1]], np.float32)
    nudged = reference.copy()
    nudged[0, 0] = np.nextafter(np.float32(0.25), np.float32(1))
    assert checks.fault(reference.copy(), reference, exact=True) is None
    assert checks.fault(nudged, reference, exact=True) == "differs from eager's bits in 1 of 4 elements"
    assert checks.fault(nudged, reference, exact=False) is None
    assert "of the largest magnitude" in str(checks.fault(reference + np.float32(0.001), reference, exact=False))
    assert checks.fault(reference[:1], reference, exact=False) == "has shape [1, 2], eager's is [2, 2]"


def test_signed_zero_and_nan_are_bits_too() -> None:
    zero = np.array([0.0], np.float32)
    assert checks.fault(-zero, zero, exact=True) is not None
    nan = np.array([np.nan], np.float32)
    assert checks.fault(nan.copy(), nan, exact=True) is None
    assert checks.difference(zero, nan) == float("inf")
    assert checks.difference(nan, nan) == 0


def test_classes_may_differ_only_where_two_are_tied_and_no_bits_are_claimed() -> None:
    probabilities = np.array([[0.5, 0.499995], [0.9, 0.1]], np.float32)
    reference, tied, wrong = np.array([0, 0]), np.array([1, 0]), np.array([0, 1])
    assert checks.fault(tied, reference, False, probabilities) is None
    assert checks.fault(tied, reference, True, probabilities) is not None
    assert checks.fault(wrong, reference, False, probabilities) == "1 of 2 classes differ from eager's"


class Fixed(Contender):
    """A contender that answers with a given array, or refuses."""

    name = "fixed"
    label = "fixed"

    def __init__(self, answer: Array | None, exact: bool = True) -> None:
        super().__init__(1)
        self.answer, self.exact = answer, exact

    def require(self) -> None:
        pass

    def prepare(self, case: Case, witness: bool = False) -> Call:
        if self.answer is None:
            raise NotAvailable("there is no answer")
        return lambda: self.answer


def test_only_right_answers_get_a_call_to_time() -> None:
    (case,) = workloads.cases(("tiny_op",))
    right = case.tensors["a"] + case.tensors["b"]
    reference = worker.reference_of(case, Fixed(right))
    entry, call = worker.checked(case, Fixed(right), reference)
    assert entry.status == "measured"
    assert call is not None
    for contender, status in ((Fixed(right + 1), "wrong"), (Fixed(right + 1, exact=False), "wrong"), (Fixed(None), "not available")):
        entry, call = worker.checked(case, contender, reference)
        assert entry.status == status
        assert entry.reason
        assert call is None


def test_calls_are_timed_in_turn() -> None:
    order: list[str] = []
    calls = {"a": lambda: order.append("a"), "b": lambda: order.append("b")}
    times = timing.in_turn(calls, rounds=4, seconds=1e-5)
    assert {name: len(each) for name, each in times.items()} == {"a": 4, "b": 4}
    assert all(time > 0 for each in times.values() for time in each)
    changes = [name for name, before in zip(order[1:], order, strict=False) if name != before]
    assert len(changes) >= 4


def test_no_contender_always_follows_the_same_one() -> None:
    order: list[str] = []
    calls: dict[str, Call] = {name: (lambda name=name: order.append(name)) for name in "abcd"}
    timing.in_turn(calls, rounds=30, seconds=1e-5)
    turns = [name for name, before in zip(order[1:], order, strict=False) if name != before]
    followed = {(before, name) for before, name in itertools.pairwise(turns)}
    assert len(followed) == 12


def entry_of(*times: float) -> dict[str, Any]:
    return {"status": "measured", "reason": "", "bits_equal": True, "microseconds": list(times)}


def content() -> dict[str, Any]:
    """A run of three processes on one thread, in which natif takes 2 µs and eager 200, 300 and 400."""
    refused = {"status": "not available", "reason": "no compiler", "bits_equal": False, "microseconds": []}

    def cases(eager: float) -> dict[str, Any]:
        scoring = {
            f"score/{batch}": {"eager": entry_of(eager, eager, 9e9), "natif_exact": entry_of(2, 2, 2), "natif_bound": refused}
            for batch in bars.BATCHES
        }
        edges = {"empty": 0.1, "same": 0.3, "one": 0.8, "eight": 1.5}
        boundary = {f"boundary/{name}": {"eager": entry_of(1), "natif_exact": entry_of(time)} for name, time in edges.items()}
        matmul = {f"matmul/{batch}": {"eager": entry_of(9), "natif_bound": entry_of(1 + batch / 16)} for batch in (1, 128)}
        return scoring | boundary | matmul

    build = {"natif_exact": {"cold": [{"prepare": 1.0, "first_call": 0.5, "growth": 0}], "artifact_bytes": 51200, "import_seconds": [0.05]}}
    return {
        "machine": {"cpu": "Imagined <CPU>", "cores": 2},
        "versions": {"tensorflow-cpu": "2.21.0"},
        "processes": [{"threads": 1, "load": 0.5, "fma_peak_gflops": 150.0, "cases": cases(eager)} for eager in (300.0, 200.0, 400.0)],
        "build": build,
    }


def test_ratios_are_of_medians_in_a_process_and_spread_over_processes() -> None:
    results = summary.Results(content())
    assert results.ratio(1, "score/1", "natif_exact") == summary.Spread(150, 100, 200)
    assert results.microseconds(1, "score/1", "natif_exact") == summary.Spread(2, 2, 2)
    assert results.ratio(1, "score/1", "natif_bound") is None
    assert results.reason(1, "score/1", "natif_bound") == "not available: no compiler"
    assert results.reason(1, "chain", "natif_bound") == "not in this run"


def test_one_process_without_a_number_is_no_number() -> None:
    partly = content()
    partly["processes"][1]["cases"]["score/1"]["natif_exact"] = {
        "status": "wrong",
        "reason": "bits",
        "microseconds": [],
        "bits_equal": False,
    }
    results = summary.Results(partly)
    assert results.ratio(1, "score/1", "natif_exact") is None
    assert results.reason(1, "score/1", "natif_exact") == "wrong: bits"


def test_costs_are_differences() -> None:
    results = summary.Results(content())
    expected = {"an empty native call": 0.1, "one more tensor argument": 0.1, "a result": 0.5}
    for name, cost in expected.items():
        measured = results.cost(1, name)
        assert measured is not None
        assert measured.median == pytest.approx(cost)
    assert results.cost(1, "guards and binding") is None
    share = results.peak_share(1, "natif_bound")
    assert share is not None
    assert share.median == pytest.approx(2 * 127 * 64 * 64 / (127 / 16 * 1e3) / 150)


def test_bars_are_judged_by_the_median() -> None:
    found = {(verdict.kind, verdict.text): verdict for verdict in bars.verdicts(summary.Results(content()))}
    assert found["bar", "score/1: natif_exact / eager"].met is True
    assert found["goal", "score/1: natif_exact / eager"].met is False
    unmeasured = found["bar", "score/1: natif_bound / litert"]
    assert unmeasured.met is None
    assert unmeasured.reason == "natif_bound not available: no compiler"
    assert found["bar", "one more tensor argument"].met is True
    assert found["bar", "scoring function: cold build and first call"].met is True
    assert found["bar", "scoring function: from the cache, and first call"].met is None


def test_the_report_names_every_bar() -> None:
    results = summary.Results(content())
    text = report.text(results)
    assert all(verdict.text in text for verdict in bars.verdicts(results))
    assert "NOT MEASURED" in text
    assert "not available: no compiler" in text


def test_the_report_warns_of_a_busy_machine() -> None:
    busy = content()
    busy["processes"][2]["load"] = 2.6
    assert "WARNING: the machine was busy" in report.text(summary.Results(busy))
    assert "WARNING" not in report.text(summary.Results(content()))


def test_a_bar_names_cases_and_contenders_that_exist() -> None:
    names = {case.name for case in workloads.cases()}
    for speed in bars.SPEEDS:
        assert speed.case in names
        assert {speed.contender, speed.against} <= set(contenders.NAMES)
    assert set(bars.COST_LIMITS) <= set(summary.COSTS)


def test_the_chart_is_well_formed_and_always_the_same() -> None:
    first, second = (chart.svg(summary.Results(copy.deepcopy(content())), 1) for _ in range(2))
    assert first == second
    root = ET.fromstring(first)
    assert root.tag.endswith("svg")
    assert "Imagined <CPU>" in "".join(root.itertext())
    assert "natif, exact" in "".join(root.itertext())


def test_the_readme_is_filled_between_its_markers_and_only_there() -> None:
    before = f"# natif\n\n{readme.BEGIN}\nold\n{readme.END}\n\nthe end\n"
    filled = readme.filled(before, summary.Results(content()))
    assert filled.startswith("# natif\n")
    assert filled.endswith("\n\nthe end\n")
    assert "old" not in filled
    assert "| **natif, exact** | 2.00 µs (150 ×) |" in filled
    assert readme.filled(filled, summary.Results(content())) == filled
    with pytest.raises(ValueError, match="needs the lines"):
        readme.filled("# natif\n", summary.Results(content()))


def test_results_survive_json() -> None:
    assert report.text(summary.Results(json.loads(json.dumps(content())))) == report.text(summary.Results(content()))


def test_growth_counts_what_calls_leave_behind() -> None:
    kept: list[mmap.mmap] = []  # pages of their own: memory that earlier tests freed does not hide the growth

    def keep_a_page() -> None:
        kept.append(mmap.mmap(-1, mmap.PAGESIZE))
        kept[-1].write(b"x" * mmap.PAGESIZE)

    assert build_times.growth(keep_a_page, 5000) > 10_000_000
    assert build_times.growth(lambda: None, 5000) < bars.GROWTH_BYTES
