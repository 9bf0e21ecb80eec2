"""Reports: what claiming said of every site of a function, of a file or of whole folders, and where each claimed op runs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Site:
    """One verdict, about one call, operator, statement or function.

    Lines are 1-based, columns 0-based in UTF-8 bytes. `outcome` is "Claimed" (native), "NotCovered" (not natif's, so the function stays
    Python) or "Rejected" (natif's, but in a form that is not supported). `rule` names what claimed it ("natif/Relu"), `code` the diagnostic
    ("NTF-RELU-1"); `message` is empty only where Claimed. `lane` is "fused", "tfe", "evaluator" (natif
    interprets the function) or "python", and "" where nothing has been planned; `exact` says whether that lane gives eager's very bits.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    target: str
    outcome: str
    rule: str = ""
    code: str = ""
    message: str = ""
    suggestion: str = ""
    lane: str = ""
    exact: bool = True
    function: str = ""
    file: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column + 1}: {self.outcome} {self.target}"
        if self.outcome == "Claimed":
            return f"{place} [{self.rule}{', ' + self.lane if self.lane else ''}{'' if self.exact else ', not exact'}]"
        return f"{place} [{self.code}]: {self.message}" + (f"; {self.suggestion}" if self.suggestion else "")


@dataclass(frozen=True)
class FunctionReport:
    """One function's part of a report.

    `reason` says why it stays Python where no site does: its source can't be read, for example. `interpreted`: natif runs it op by op
    through TensorFlow, since its native code can't be had. `bound`, of what bind() made: which code runs.
    """

    name: str
    file: str
    line: int
    is_native: bool
    sites: tuple[Site, ...]
    reason: str = ""
    interpreted: bool = False
    bound: str = ""

    def __str__(self) -> str:
        state = "is native" if self.is_native else "is interpreted" if self.interpreted else "stays Python"
        head = f"{self.file}:{self.line}: {self.name} {state}" + (f", bound: {self.bound}" if self.bound else "")
        return "\n".join([head + (f": {self.reason}" if self.reason else ""), *(f"  {site}" for site in self.sites)])


@dataclass(frozen=True)
class Report:
    """What natif says of some functions. `sites` are those of all of them, in order; `problems` are files that can't be read or parsed."""

    functions: tuple[FunctionReport, ...] = ()
    problems: tuple[Site, ...] = ()
    sites: tuple[Site, ...] = field(init=False)

    def __post_init__(self) -> None:
        sites = [site for function in self.functions for site in function.sites]
        object.__setattr__(self, "sites", (*self.problems, *sites))

    @property
    def lane(self) -> str:
        """The lane of all claimed ops: "fused", "tfe", "mixed", "evaluator" where functions are interpreted, "python" where one stays
        Python, or "" before planning.
        """
        if self.functions and all(function.interpreted for function in self.functions):
            return "evaluator"
        if not all(function.is_native for function in self.functions) or self.problems:
            return "python"
        lanes = {site.lane for site in self.sites if site.lane in ("fused", "tfe")}
        return lanes.pop() if len(lanes) == 1 else "mixed" if lanes else ""

    @property
    def is_native(self) -> bool:
        """Whether every function is native."""
        return bool(self.functions) and not self.problems and all(function.is_native for function in self.functions)

    @property
    def reason(self) -> str:
        """Why the first function that is not native stays Python or is interpreted; "" where all are native."""
        for problem in self.problems:
            return str(problem)
        return next((reason_of(function) for function in self.functions if not function.is_native), "")

    def __str__(self) -> str:
        return "\n".join([*map(str, self.problems), *map(str, self.functions)])


def reason_of(function: FunctionReport) -> str:
    """Why a function stays Python, with its place."""
    if function.reason:
        return function.reason
    for site in function.sites:
        if site.outcome != "Claimed":
            return f"line {site.line}: {site.message} [{site.code}]"
    return ""


def function_report(claim: Mapping[str, Any], file: str, facts: Iterable[tuple[int, str, str, bool]] = ()) -> FunctionReport:
    """A function's report from its claim, with the lanes that planning gave its sites."""
    native = bool(claim["native"])
    lanes = {index: {"lane": lane, "exact": exact} for index, lane, _rule, exact in facts}
    unplanned = {} if native else {"lane": "python"}
    common = {"function": claim["name"], "file": file}
    sites = [Site(**{**site, **common, **lanes.get(index, unplanned)}) for index, site in enumerate(claim["sites"])]
    return FunctionReport(claim["name"], file, claim["line"], native, tuple(sites))


def unreadable(name: str, file: str, line: int, reason: str) -> Report:
    """The report of a function whose source natif can't use."""
    return Report((FunctionReport(name, file, line, False, (_whole(name, file, line, "NTF-SOURCE-1", reason),), reason),))


def _whole(name: str, file: str, line: int, code: str, reason: str) -> Site:
    suggestion = "keep the function in a file that Python can show the source of"
    return Site(
        line, 0, line, 0, name, "NotCovered", code=code, message=reason, suggestion=suggestion, lane="python", function=name, file=file
    )


def failed(report: Report, reason: str) -> Report:
    """The report of functions that could be native, but for a failure of what natif needs."""
    functions = (replace(function, is_native=False, reason=reason, sites=_in_python(function.sites)) for function in report.functions)
    return Report(tuple(functions), report.problems)


def interpreted(report: Report, reason: str) -> Report:
    """The report of functions that natif interprets, for want of their native code."""
    functions = (
        replace(
            function,
            is_native=False,
            interpreted=True,
            reason=reason,
            sites=tuple(replace(site, lane="evaluator", exact=True) for site in function.sites),
        )
        for function in report.functions
    )
    return Report(tuple(functions), report.problems)


def bound_report(report: Report, code: str) -> Report:
    """The report of a bound function, with the code that it runs."""
    return Report(tuple(replace(function, bound=code) for function in report.functions), report.problems)


def _in_python(sites: tuple[Site, ...]) -> tuple[Site, ...]:
    return tuple(replace(site, lane="python") for site in sites)
