"""The code of bound functions: specialised for the sizes of the tensors that they have bound, or the function's own for any size.

Specialised code has those sizes as constants of its loops. It is built at the first call of the first bound function that needs it, one
artifact for each set of sizes, in the cache as any other; functions bound to other tensors of the same sizes share it. Whatever stands in
the way of it costs speed alone: the function's code for any size runs then, and report and plan say why.
"""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from natif import policy
from natif.errors import CompileError
from natif.report import Report, bound_report, function_report, reason_of

if TYPE_CHECKING:
    from natif.program import Entry, Program
    from natif.source import Claim, Source

MOST_VARIANTS = 32
"""Sets of sizes for which one function gets code of its own in a process: loaded code stays loaded."""

Sizes = tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(eq=False, repr=False)
class Variant:
    """The provider (runtime/native_function.h) of the functions that are bound to tensors of the same sizes.

    `entry` holds the specialised code, None where there is to be none; `reason` says why then. Both change only with the lock.
    """

    program: Any
    name: str
    sizes: Sizes
    entry: "Entry | None"
    reason: str
    lock: Any = field(default_factory=threading.RLock)

    def artifact(self, name: str) -> Any:
        """The artifact of the specialised code, else that of the function's own."""
        with self.lock:
            entry = self._planned()
            failure = self._built(entry) if entry is not None else None
            if self.entry is not None:
                return self.entry.artifact
            artifact = self.program.artifact(name)
            # Where the function's own code can't be had either, that has been told.
            if failure is not None and self.program.has_code(name):
                policy.warn_generic(name, failure)
            return artifact

    def report(self, name: str) -> Report:
        """The function's report, which says what its code is for."""
        with self.lock:
            entry = self._planned()
            report = self.program.report(name) if entry is None else self.program.report_of(entry)
            return bound_report(report, self._described())

    def source(self, name: str, kind: str) -> str:
        """The texts of the code that runs; the plan says first what it is for."""
        with self.lock:
            entry = self._planned()
            text = self.program.source(name, kind) if entry is None else self.program.source_of(entry, kind)
            return f"bound: {self._described()}\n{text}" if kind == "plan" else text

    def hidden(self, name: str) -> dict[str, Any]:
        """Where the function's module-level names are read."""
        namespace: dict[str, Any] = self.program.hidden(name)
        return namespace

    def guards(self, name: str) -> dict[str, Any]:
        """Module-level names that were compiled in."""
        guards: dict[str, Any] = self.program.guards(name)
        return guards

    def unavailable(self, name: str, error: Exception) -> None:
        """Says, once, that the function stays Python."""
        self.program.unavailable(name, error)

    def bind(self, function: Any, values: dict[str, Any]) -> Any:
        """A function that has these values bound as well."""
        return self.program.bind(function, values)

    def _described(self) -> str:
        return f"code for any size, since {self.reason}" if self.entry is None else f"specialised for {sizes_text(self.sizes)}"

    def _planned(self) -> "Entry | None":
        """The specialised code, planned; None, with the reason noted, where there can be none."""
        if self.entry is not None and self.entry.plan is None:
            try:
                self.program.plan_of(self.entry)
            except CompileError as error:
                self._give_up(str(error))
        return self.entry

    def _built(self, entry: "Entry") -> Exception | None:
        """Builds the specialised code; the error where that fails."""
        if entry.artifact is None:
            try:
                self.program.build([entry])
            except (OSError, RuntimeError) as error:
                self._give_up(str(error))
                return error
        return None

    def _give_up(self, reason: str) -> None:
        self.entry, self.reason = None, reason.removeprefix("natif: ")


def variant_of(program: "Program", name: str, sizes: Mapping[str, tuple[int, ...]]) -> Variant:
    """The variant of the program's function for bound tensors of these sizes, by parameter."""
    key = (name, tuple(sizes.items()))
    with program.lock:
        variant = program.variants.get(key)
        if variant is None:
            entry, reason = _entry(program, name, sizes)
            variant = Variant(program, name, key[1], entry, reason)
            if entry is None:
                return variant
            program.variants[key] = variant
        return variant


def _entry(program: "Program", name: str, sizes: Mapping[str, tuple[int, ...]]) -> tuple["Entry | None", str]:
    """The entry of code for these sizes, or why there is to be none."""
    from natif.program import Entry

    generic = program.entries[name]
    if not generic.options.specialize:
        return None, "specialize is False"
    if not sizes:
        return None, "no tensor with sizes is bound"
    if generic.options.lane == "tfe":
        return None, "lane is 'tfe', where sizes change nothing"
    if sum(other == name for other, _ in program.variants) >= MOST_VARIANTS:
        return None, f"there is code for {MOST_VARIANTS} other sets of sizes"
    specialized = (generic.claim["name"], generic.claim["first_line"], {parameter: list(given) for parameter, given in sizes.items()})
    try:
        claim = _claim(program.unit, specialized)
    except CompileError as error:
        return None, str(error).removeprefix("natif: ")
    if not claim["native"]:
        return None, f"it is not native with {sizes_text(tuple(sizes.items()))}: {reason_of(function_report(claim, program.unit.file))}"
    return Entry(name, claim, generic.options, specialized), ""


def _claim(unit: "Source", specialized: tuple[str, int, dict[str, list[int]]]) -> "Claim":
    from natif import _compiler

    claims = _compiler.claim_module(unit.tree, unit.file, unit.module_name, specialized)
    return next(claim for claim in claims if (claim["name"], claim["first_line"]) == specialized[:2])


def sizes_text(sizes: Sizes) -> str:
    """For a person: "w[64, 8], b[8]"."""
    return ", ".join(f"{name}{list(given)}" for name, given in sizes)
