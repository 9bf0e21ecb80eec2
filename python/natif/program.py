"""The native functions of one source file in one namespace: planned together, built as one artifact, each a NativeFunction.

A Program is the provider that natif._runtime asks (runtime/native_function.h): for the artifact at a function's first call, for its report
and texts, for the module's globals.
"""

import threading
import time
from dataclasses import dataclass, field
from typing import Any

from natif import policy
from natif.errors import CompileError
from natif.options import Options
from natif.report import Report, failed, function_report, interpreted
from natif.source import Claim, Source, SourceError, source_of
from natif.variant import Sizes, Variant, variant_of


@dataclass(eq=False, repr=False)
class Entry:
    """One function under one set of options that decide its code.

    `specialized` is what compile_module() takes, of code for certain sizes. Where the code can't be had, either `failure` is the reason and
    calls raise it or run in Python, or `artifact` interprets the function and `cause` is the reason.
    """

    name: str
    claim: Claim
    options: Options
    specialized: tuple[str, int, dict[str, list[int]]] | None = None
    plan: dict[str, Any] | None = None
    artifact: Any = None
    cpp: str = ""
    failure: Exception | None = None
    cause: str = ""


@dataclass(eq=False, repr=False)
class Program:
    """The provider of the native functions of one source file."""

    unit: Source
    namespace: dict[str, Any]
    entries: dict[str, Entry] = field(default_factory=dict)
    variants: dict[tuple[str, Sizes], Variant] = field(default_factory=dict)
    lock: Any = field(default_factory=threading.RLock)

    def add(self, claim: Claim, options: Options) -> str:
        """Registers a claimed function; returns its name in the artifact: its qualified name, unless another has that."""
        with self.lock:
            base = name = str(claim["name"])
            number = 1
            while name in self.entries:
                entry = self.entries[name]
                if entry.claim is claim and _code_options(entry.options) == _code_options(options):
                    return name
                number += 1
                name = f"{base}#{number}"
            self.entries[name] = Entry(name, claim, options)
            return name

    def function(self, python: Any, name: str, options: Options) -> Any:
        """The NativeFunction of a registered function."""
        from natif import _runtime

        facts = {"lane": options.lane, "numerics": options.numerics, "target": options.target, "specialize": options.specialize}
        run = {"mode": policy.mode(), "on_mismatch": options.on_mismatch, "require": options.require, "name": name}
        return _runtime.NativeFunction(python, self, name, {**facts, **run})

    def plan(self, name: str) -> dict[str, Any]:
        """The function's texts and where its sites run. CompileError where an option can't be met."""
        return self.plan_of(self.entries[name])

    def plan_of(self, entry: Entry) -> dict[str, Any]:
        """The same of an entry."""
        if entry.plan is None:
            entry.plan = self._compiled([entry]).functions[0]
        assert entry.plan is not None
        return entry.plan

    def withdraw(self, name: str) -> None:
        """Takes back a function whose options can't be met, so that it does not stand in the way of the others."""
        with self.lock:
            self.entries.pop(name, None)

    def artifact(self, name: str) -> Any:
        """The artifact that has the function, built with all functions of the file that are still without one.

        Where it can't be had, the error; or, unless native code was demanded, a module in memory that interprets the function.
        """
        with self.lock:
            entry = self.entries[name]
            if entry.artifact is None and entry.failure is None:
                together = [other for other in self.entries.values() if other.artifact is None and other.failure is None]
                self._build_what_can_be([other for other in together if other.options.target == entry.options.target])
            if entry.failure is not None:
                raise entry.failure
            return entry.artifact

    def has_code(self, name: str) -> bool:
        """Whether the function's native code has been built and loaded."""
        entry = self.entries[name]
        return entry.artifact is not None and not entry.cause

    def report(self, name: str) -> Report:
        """The function's report, with the lanes of its sites."""
        return self.report_of(self.entries[name])

    def report_of(self, entry: Entry) -> Report:
        """The same of an entry."""
        try:
            facts = self.plan_of(entry)["sites"]
        except CompileError as error:
            return failed(Report((function_report(entry.claim, self.unit.file),)), str(error))
        report = Report((function_report(entry.claim, self.unit.file, self._proven(entry, facts)),))
        if entry.cause:
            return interpreted(report, entry.cause)
        return failed(report, str(entry.failure)) if entry.failure is not None else report

    def source(self, name: str, kind: str) -> str:
        """The graph ("ir"), the plan ("plan") or the generated C++ ("cpp")."""
        return self.source_of(self.entries[name], kind)

    def source_of(self, entry: Entry, kind: str) -> str:
        """The same of an entry."""
        if kind in ("ir", "plan"):
            return str(self.plan_of(entry)[kind])
        if kind != "cpp":
            raise ValueError(f"natif: the source of a function is 'ir', 'plan' or 'cpp', not {kind!r}")
        if not entry.cpp:
            entry.cpp = _text(self._compiled([entry]).files)
        return entry.cpp

    def hidden(self, name: str) -> dict[str, Any]:
        """Where the function's module-level names are read."""
        return self.namespace

    def guards(self, name: str) -> dict[str, Any]:
        """Module-level names that were compiled in, with what they have to hold for the native code to be right."""
        guards: dict[str, Any] = {}
        for guarded, is_function, value in self.entries[name].claim["guards"]:
            guards[guarded] = self._callee(guarded) if is_function else value
        return guards

    def unavailable(self, name: str, error: Exception) -> None:
        """Says, once, that the function stays Python."""
        self.entries[name].failure = error
        policy.warn_unavailable(name, error)

    def bind(self, function: Any, values: dict[str, Any]) -> Any:
        """A NativeFunction that always passes these values."""
        from natif.binding import bound_function, sizes_of

        name = function.options["name"]
        return bound_function(function, name, values, lambda bound: variant_of(self, name, sizes_of(bound)))

    def _callee(self, name: str) -> Any:
        """What the module holds under the name of a function that was inlined; it must be the function that the source shows."""
        held = self.namespace.get(name)
        python: Any = getattr(held, "python", held)
        inlined = [claim for claim in self.unit.claims if claim["name"] == name]
        try:
            # In a notebook the function may be of an earlier cell, which is another source.
            source = self.unit if python.__code__.co_filename == self.unit.file else source_of(python)
            if source.claim_of(python)["ir"] == inlined[-1]["ir"]:
                return held
        except (AttributeError, IndexError, SourceError):
            pass
        raise CompileError(f"natif: {name} is no longer the function that the source of {self.unit.file} shows")

    def _compiled(self, entries: list[Entry]) -> Any:
        from natif import _compiler

        requests = [(entry.claim, entry.name, entry.options.lane, entry.options.numerics) for entry in entries]
        unit = self.unit
        levels = [entries[0].options.target]
        return _compiler.compile_module(unit.tree, unit.file, unit.module_name, requests, levels, specialized=entries[0].specialized)

    def build(self, entries: list[Entry]) -> None:
        """Builds and loads one artifact of these entries; specialised ones stand alone. Raises what went wrong."""
        from natif import _runtime
        from natif.cache import cached_build
        from natif.cache_folder import remember_self_check

        remember_self_check()
        plan = self._compiled(entries)
        text = _text(plan.files)
        stem = self.unit.module_name.rpartition(".")[2]
        artifact = _runtime.Artifact(str(cached_build(text, stem, entries[0].options.target)))
        for entry, function in zip(entries, plan.functions, strict=True):
            entry.plan, entry.artifact, entry.cpp = function, artifact, text

    def _build_what_can_be(self, entries: list[Entry]) -> None:
        """Builds the entries; where that fails each by itself, so that one without its code does not take the others' away."""
        from natif import toolchain

        try:
            self.build(entries)
        except Exception as error:
            if len(entries) == 1:
                return self._do_without_code(entries[0], error)
            # A compiler that hangs on one function would do so again: all of them together get the time of one build once more.
            left = toolchain.COMPILE_TIMEOUT
            for done, entry in enumerate(entries):
                start = time.monotonic()
                with toolchain.time_limit(left / (len(entries) - done)):
                    self._build_what_can_be([entry])
                left = max(0.0, left - (time.monotonic() - start))

    def _do_without_code(self, entry: Entry, error: Exception) -> None:
        """Interprets the function, which is faster than its Python body, unless native code was demanded."""
        from natif import _compiler, _runtime

        if entry.options.require or policy.mode() == "native":
            entry.failure = error
            return
        try:
            text = self.plan_of(entry)["ir"]
            entry.artifact = _runtime.Artifact.of_module(_compiler.evaluated_module(self.unit.module_name, self.unit.file, [text]))
        except RuntimeError:
            entry.failure = error
            return
        entry.cause = str(error)
        policy.warn_interpreted(entry.name, error)

    def _proven(self, entry: Entry, facts: list[tuple[int, str, str, bool]]) -> list[tuple[int, str, str, bool]]:
        """The facts as this machine runs them: an op whose rule its self-check has refuted runs through TensorFlow."""
        refuted = refuted_rules() if entry.artifact is not None else frozenset()
        return [(site, "tfe" if lane == "fused" and rule in refuted else lane, rule, exact) for site, lane, rule, exact in facts]


def refuted_rules() -> frozenset[str]:
    """The exactness rules that this machine's self-check says no to, in all of their variants ("matmul" and "matmul@eigen" are one rule on
    two classes of machines). Asked only where TensorFlow's context is there: asking makes one.
    """
    import sys

    context = sys.modules.get("tensorflow.python.eager.context")
    current = context.context_safe() if context is not None else None
    if current is None or getattr(current, "_context_handle", None) is None:
        return frozenset()
    from natif import _runtime

    outcomes = _runtime.self_check()
    proven = {rule.partition("@")[0] for rule, holds in outcomes.items() if holds}
    return frozenset(rule.partition("@")[0] for rule in outcomes) - proven


def _code_options(options: Options) -> tuple[str, str, str, bool, bool]:
    """The options that decide a function's code, or what there is in its place."""
    return options.lane, options.numerics, options.target, options.specialize, options.require


def _text(files: list[tuple[str, str, str]]) -> str:
    assert len(files) == 1, "one vector level is one file"
    return files[0][2]


_programs: dict[tuple[int, int], Program] = {}
_lock = threading.Lock()


def program_of(source: Source, namespace: dict[str, Any]) -> Program:
    """The program of a source in a namespace. Programs live as long as the process, as their functions' modules do."""
    key = (id(source), id(namespace))
    with _lock:
        program = _programs.get(key)
        if program is None:
            program = _programs[key] = Program(source, namespace)
        return program
