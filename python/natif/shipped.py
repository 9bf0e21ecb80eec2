"""Packages that natif built ahead of time: finds a module's artifact, checks it, and makes its functions native without any compiler.

A built package PKG has the folder `PKG/_natif` (a single module `mod.py` has `mod_natif` beside it) with `manifest.json`, one shared object
for each module with native functions, and its description as `.json`. An artifact is loaded only when the module's source is what it was
built from, the object's sha256 is the manifest's, and the machine can run it. The hash finds damage and mix-ups; it is no protection
against someone who can write to the folder, who could change the manifest too.

Where an artifact can't be used: under NATIF_MODE=auto one RuntimeWarning with the cause, and the functions run in Python; under
NATIF_MODE=native, or for a function with require=True, natif.CompileError.
"""

import hashlib
import json
import os
import re
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from natif import policy
from natif.errors import CompileError
from natif.options import Options

FORMAT = 1
"""Of the manifest; another number is not read."""

FOLDER = "_natif"
MODULE_FOLDER_SUFFIX = "_natif"
MANIFEST = "manifest.json"

ATTACH_NAME = "_natif_attach"
ATTACH_LINE = f"from natif.shipped import attach as {ATTACH_NAME}; {ATTACH_NAME}()"
"""What a built copy of a module ends with when it has native functions without a decorator."""


class UnusableError(Exception):
    """Why an artifact can't be used, with the remedy."""


@dataclass
class Package:
    """One manifest: of a package, or of a single module."""

    folder: Path
    manifest: dict[str, Any] = field(default_factory=dict)
    damage: str = ""

    @property
    def modules(self) -> dict[str, Any]:
        """The modules with native functions, by their dotted names."""
        modules = self.manifest.get("modules", {})
        return modules if isinstance(modules, dict) else {}


class Program:
    """The native functions of one module in one namespace: the provider that natif._runtime asks (runtime/native_function.h)."""

    def __init__(self, package: Package, name: str, namespace: dict[str, Any]):
        self.package = package
        self.name = name
        self.namespace = namespace
        self.file = _source_file(namespace)
        self.cause = ""
        self._artifact: Any = None
        self._description: dict[str, Any] | None = None
        if policy.mode() != "python":
            try:
                self._artifact = _opened(package, name, self.file)
            except UnusableError as error:
                self.cause = f"natif: {error}"

    def function(self, python: Any, options: Options) -> Any:
        """The NativeFunction, or the function itself where it stays Python. CompileError where native execution was demanded."""
        from natif.python_function import stay_python
        from natif.report import reason_of

        name = python.__qualname__
        strict = options.require or policy.mode() == "native"
        facts = self.facts(python)
        if self.cause:
            if strict:
                raise CompileError(self.cause)
            self.warn()
        if self.cause or policy.mode() == "python":
            return stay_python(python, self.report(name))
        if facts is None:
            report = self.report(name)
            if options.require:
                reason = reason_of(report.functions[0]) if report.functions else "the build found no such function"
                raise CompileError(f"natif: {name} can't be native: {reason}")
            return stay_python(python, report)
        return self._native(python, facts, options)

    def _native(self, python: Any, facts: dict[str, Any], options: Options) -> Any:
        from natif import _runtime

        built = {name: facts[name] for name in ("lane", "numerics")}
        return _runtime.NativeFunction(
            python,
            self,
            python.__qualname__,
            {**built, "mode": policy.mode(), "on_mismatch": options.on_mismatch, "require": options.require},
        )

    def facts(self, function: Any) -> dict[str, Any] | None:
        """What the manifest says of a running function; None where the build left it in Python."""
        code = getattr(function, "__code__", None)
        for facts in self.package.modules.get(self.name, {}).get("functions", ()):
            if code is not None and (facts["name"], facts["line"]) == (code.co_qualname, code.co_firstlineno):
                return dict(facts)
        return None

    def undecorated(self) -> Iterator[dict[str, Any]]:
        """The manifest's functions that no decorator makes native."""
        for facts in self.package.modules.get(self.name, {}).get("functions", ()):
            if not facts["decorated"]:
                yield facts

    def warn(self) -> None:
        """Says, once for each artifact, that its functions run in Python."""
        policy.warn(f"{self.cause}; the functions of {self.name} run in Python")

    def artifact(self, name: str) -> Any:
        """The opened artifact."""
        return self._artifact

    def report(self, name: str) -> Any:
        """The function's report as the build made it."""
        from natif.program import refuted_rules
        from natif.report import Report, failed, function_report

        described = self.description().get("functions", {}).get(name)
        if described is None:
            return Report()
        refuted = refuted_rules() if self._artifact is not None else frozenset()
        lanes = [
            (site, "tfe" if lane == "fused" and rule in refuted else lane, rule, exact) for site, lane, rule, exact in described["lanes"]
        ]
        report = Report((function_report(described, self.file, lanes),))
        reason = self.cause or described["reason"]
        return failed(report, reason) if reason else report

    def source(self, name: str, kind: str) -> str:
        """The graph ("ir"), the plan ("plan") or the generated C++ ("cpp"), as the build left them."""
        if kind not in ("ir", "plan", "cpp"):
            raise ValueError(f"natif: the source of a function is 'ir', 'plan' or 'cpp', not {kind!r}")
        description = self.description()
        if kind == "cpp":
            return str(description.get("cpp", ""))
        return str(description.get("functions", {}).get(name, {}).get(kind, ""))

    def hidden(self, name: str) -> dict[str, Any]:
        """Where the function's module-level names are read."""
        return self.namespace

    def guards(self, name: str) -> dict[str, Any]:
        """Module-level names that were compiled in, with what they have to hold for the native code to be right."""
        known = next(facts for facts in self.package.modules[self.name]["functions"] if facts["name"] == name)
        guards: dict[str, Any] = {}
        for guarded, is_function, value in known["guards"]:
            guards[guarded] = self._callee(guarded) if is_function else value
        return guards

    def _callee(self, name: str) -> Any:
        held = self.namespace.get(name)
        if self.facts(getattr(held, "python", held)) is None:
            raise CompileError(f"natif: {name} is no longer the function that {self.name} was built with; build the package again")
        return held

    def unavailable(self, name: str, error: Exception) -> None:
        """Says, once, that the function stays Python."""
        policy.warn_unavailable(name, error)

    def bind(self, function: Any, values: dict[str, Any]) -> Any:
        """A NativeFunction that always passes these values, through the artifact's code for any size."""
        from natif.binding import bound_function
        from natif.variant import Variant

        name = function.__qualname__
        provider = Variant(self, name, (), None, "it was built ahead of time")
        return bound_function(function, name, values, lambda bound: provider)

    def description(self) -> dict[str, Any]:
        """The module's description file, read when it is first asked for; empty where it is missing or damaged."""
        if self._description is None:
            described: Any = {}
            try:
                file = self.package.modules[self.name]["description"]
                if _plain_name(file):
                    described = json.loads((self.package.folder / file).read_bytes())
            except (OSError, ValueError, KeyError, TypeError):
                pass
            self._description = described if isinstance(described, dict) else {}
        return self._description


def program_of(namespace: dict[str, Any]) -> Program | None:
    """The built functions of a module, by its globals; None where the module is of no built package."""
    name = _module_name(namespace)
    file = namespace.get("__file__")
    if not isinstance(file, str) or not name:
        return None
    with _lock:
        program = _programs.get(name)
        if program is None or program.namespace is not namespace:
            package = _package_of(name, file, namespace)
            if package is None:
                return None
            program = _programs[name] = Program(package, name, namespace)
        return program


def made(function: Any, options: Options) -> Any:
    """What natif.native makes of a function of a built package; None where it is of none, so that it is compiled as any other."""
    namespace = getattr(function, "__globals__", None)
    program = program_of(namespace) if isinstance(namespace, dict) else None
    return None if program is None else program.function(function, options)


def attach() -> None:
    """Puts native functions in the place of the undecorated typed functions of the module that calls this as its last statement."""
    namespace = sys._getframe(1).f_globals
    namespace.pop(ATTACH_NAME, None)
    program = program_of(namespace)
    if program is None:
        text = f"natif: {_module_name(namespace)} was built by natif, but its folder {FOLDER} is missing; install the package again"
        if policy.mode() == "native":
            raise CompileError(text)
        policy.warn(f"{text}; its functions run in Python")
        return
    if program.cause and policy.mode() == "native":
        raise CompileError(program.cause)
    if program.cause:
        program.warn()
    for facts in program.undecorated():
        _attach(program, facts["name"].split("."))


def _attach(program: Program, path: list[str]) -> None:
    holder: Any = program.namespace
    for step in path[:-1]:
        holder = (holder if isinstance(holder, dict) else vars(holder)).get(step)
        if not isinstance(holder, type):
            return
    members = holder if isinstance(holder, dict) else vars(holder)
    function = members.get(path[-1])
    # Only the very function that was built: the module may have bound the name again, or wrapped what it held.
    if type(function).__name__ != "function" or program.facts(function) is None:
        return
    replacement = program.function(function, Options())
    if isinstance(holder, dict):
        holder[path[-1]] = replacement
    else:
        setattr(holder, path[-1], replacement)


_programs: dict[str, Program] = {}
_packages: dict[Path, Package | None] = {}
_lock = threading.RLock()


def _module_name(namespace: dict[str, Any]) -> str:
    """The dotted name, also of a module that runs as `__main__`."""
    spec = namespace.get("__spec__")
    name = getattr(spec, "name", None) or namespace.get("__name__")
    return name.removesuffix(".__main__") if isinstance(name, str) and name != "__main__" else ""


def _source_file(namespace: dict[str, Any]) -> str:
    file = str(namespace["__file__"])
    return file.removesuffix("c") if file.endswith(".pyc") else file


def _package_of(name: str, file: str, namespace: dict[str, Any]) -> Package | None:
    """The manifest nearest to the module: that of its package, or one above, up to its top-level package."""
    folder = Path(file).parent
    depth = name.count(".")
    is_package = Path(file).stem == "__init__"
    if depth == 0 and not is_package:
        return _package_at(folder / (name + MODULE_FOLDER_SUFFIX), namespace)
    for _ in range(depth + is_package):
        package = _package_at(folder / FOLDER, namespace)
        if package is not None:
            return package
        folder = folder.parent
    return None


def _package_at(folder: Path, namespace: dict[str, Any]) -> Package | None:
    if folder not in _packages:
        _packages[folder] = _read_package(folder, namespace)
    return _packages[folder]


def _read_package(folder: Path, namespace: dict[str, Any]) -> Package | None:
    if not folder.is_dir():
        # In an archive on the path: its sources run, its artifacts can't be loaded.
        if folder.parent.is_dir() or not _in_archive(folder / MANIFEST, namespace):
            return None
        return Package(folder, damage=f"{folder} lies in an archive, from which no code can be loaded; install the package as a wheel")
    manifest = folder / MANIFEST
    try:
        content = json.loads(manifest.read_bytes())
    except (OSError, ValueError) as error:
        cause = "is missing" if isinstance(error, FileNotFoundError) else "is damaged"
        return Package(folder, damage=f"the manifest {manifest} {cause}; install the package again")
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        return Package(
            folder, damage=f"the manifest {manifest} is of a format that this natif doesn't know; upgrade natif or build the package again"
        )
    return Package(folder, content)


def _in_archive(file: Path, namespace: dict[str, Any]) -> bool:
    loader = namespace.get("__loader__")
    try:
        loader.get_data(str(file))  # type: ignore[union-attr]
    except (OSError, AttributeError):
        return False
    return True


def _opened(package: Package, name: str, source_file: str) -> Any:
    """The module's artifact. UnusableError with the cause, before anything of a file that is not what was built is loaded."""
    if package.damage:
        raise UnusableError(package.damage)
    module = package.modules.get(name)
    if module is None or module.get("artifact") is None:
        return None
    try:
        _check_source(name, source_file, module["sha256"])
        _check_machine(package.manifest)
        file = module["artifact"]["file"]
        expected = module["artifact"]["sha256"]
    except (KeyError, TypeError):
        raise UnusableError(f"the manifest {package.folder / MANIFEST} is damaged; install the package again") from None
    if not _plain_name(file):
        raise UnusableError(f"the manifest {package.folder / MANIFEST} names an artifact outside its folder; install the package again")
    path = package.folder / file
    try:
        content = path.read_bytes()
    except OSError as error:
        cause = "is missing" if isinstance(error, FileNotFoundError) else f"can't be read ({error.strerror})"
        raise UnusableError(f"the artifact {path} {cause}; install the package again") from None
    if hashlib.sha256(content).hexdigest() != expected:
        raise UnusableError(f"the artifact {path} is damaged: it is not the file that its manifest names; install the package again")
    return _loaded(path)


def _check_source(name: str, file: str, expected: str) -> None:
    """A module without its source (a frozen program) is what was frozen; its functions are still matched by name and line."""
    try:
        content = Path(file).read_bytes()
    except OSError:
        return
    if hashlib.sha256(content).hexdigest() != expected:
        raise UnusableError(f"the source of {name} ({file}) has changed since it was built; build the package again")


def _check_machine(manifest: dict[str, Any]) -> None:
    from natif.toolchain import cpu_flags

    machine = os.uname().machine
    if manifest["machine"] != machine:
        raise UnusableError(
            f"the package was built for {manifest['machine']}, this machine is {machine}; install the wheel for it or build it here"
        )
    lacking = [feature for feature in manifest["features"] if feature not in cpu_flags()]
    if lacking:
        raise UnusableError(
            f"the package was built for a processor with {', '.join(lacking)}, which this one lacks; "
            "build it here, or with --target portable"
        )


def _loaded(path: Path) -> Any:
    try:
        from natif import _runtime
        from natif.cache_folder import remember_self_check
    except ImportError as error:
        raise UnusableError(f"natif's runtime can't be loaded: {error}; install natif again") from None
    remember_self_check()
    try:
        return _runtime.Artifact(str(path))
    except RuntimeError as error:
        raise UnusableError(str(error).removeprefix("natif: ")) from None


def _plain_name(file: object) -> bool:
    return isinstance(file, str) and re.fullmatch(r"\w[\w.-]*", file, re.ASCII) is not None
