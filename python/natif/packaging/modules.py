"""The functions of a project's modules that are built: read and claimed from their sources, without importing anything of them."""

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from natif.checking import may_have_typed_functions
from natif.options import Options
from natif.packaging.config import Settings
from natif.packaging.errors import ConfigurationError, RequirementError, SourceError
from natif.packaging.project import Project, SourceFile
from natif.report import FunctionReport, Report, function_report, reason_of
from natif.shipped import ATTACH_LINE


@dataclass(frozen=True)
class Function:
    """One function that becomes native. `claim` is natif._compiler's; lane and numerics are what it is built with."""

    claim: dict[str, Any]
    lane: str
    numerics: str

    @property
    def name(self) -> str:
        """The qualified name."""
        return str(self.claim["name"])


@dataclass(frozen=True)
class Module:
    """One module with typed functions. `reports` are those of all its typed functions; `text` is the source as it is shipped."""

    source: SourceFile
    tree: ast.Module
    text: bytes
    functions: tuple[Function, ...]
    claims: tuple[dict[str, Any], ...]
    reports: tuple[FunctionReport, ...]

    @property
    def name(self) -> str:
        """The dotted name."""
        return self.source.module

    @property
    def place(self) -> str:
        """The file in the wheel, which stands for the source in generated code: it names no folder of this machine."""
        return str(self.source.place)


def read(project: Project) -> list[Module]:
    """The modules of the project that have typed functions.

    SourceError where a file can't be read or parsed, RequirementError where a function that has to be native stays Python.
    """
    modules = [module for file in project.files if file.module and (module := _module(file, project.settings)) is not None]
    report = Report(tuple(report for module in modules for report in module.reports))
    missing = unmet(report, {module.place: module.name for module in modules}, project.settings, required_by_decorator(modules))
    if missing:
        raise RequirementError("\n".join(missing))
    return modules


def _module(file: SourceFile, settings: Settings) -> Module | None:
    from natif._compiler import claim_module

    try:
        source = file.path.read_bytes()
        if not may_have_typed_functions(source.decode("latin-1")):
            return None
        tree = ast.parse(source, str(file.path))
    except OSError as error:
        raise SourceError(f"natif: {file.path} can't be read: {error.strerror}; correct its permissions or exclude it") from None
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        raise SourceError(f"natif: {file.path}:{line}: the file does not parse: {error}; correct it or exclude it") from None
    claims = [claim for claim in claim_module(tree, str(file.place), file.module) if claim["decorated"] or claim["marked"]]
    if not claims:
        return None
    definitions = {
        (node.lineno, node.col_offset): node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    functions, reports = [], []
    for claim in claims:
        definition = definitions[claim["line"], claim["column"]]
        reason = "" if not claim["native"] else _reason_not_attached(claim, definition)
        report = function_report({**claim, "native": claim["native"] and not reason}, str(file.place))
        reports.append(report if not reason else FunctionReport(report.name, report.file, report.line, False, report.sites, reason))
        if claim["native"] and not reason:
            functions.append(_function(claim, definition, settings, file))
    return Module(file, tree, _shipped_text(source, functions), tuple(functions), tuple(claims), tuple(reports))


def _reason_not_attached(claim: dict[str, Any], definition: Any) -> str:
    """Why a function that could be native can't be put in its place in a built package; "" where it can."""
    if claim["decorated"]:
        return ""
    if definition.decorator_list:
        return "other decorators stand on it: put natif.native below them"
    if "<locals>" in claim["name"]:
        return "it is made anew at each call of the function around it: decorate it with natif.native"
    return ""


def _function(claim: dict[str, Any], definition: Any, settings: Settings, file: SourceFile) -> Function:
    options = decorator_options(definition, file.path) if claim["decorated"] else {}
    return Function(claim, options.get("lane", settings.lane), options.get("numerics", settings.numerics))


def decorator_options(definition: Any, path: Path) -> dict[str, Any]:
    """The options that the decorator gives; ConfigurationError where one is no literal, since the build does not run the file."""
    decorator = definition.decorator_list[-1]
    options = {}
    for keyword in decorator.keywords if isinstance(decorator, ast.Call) else ():
        where = f"natif: {path}:{keyword.value.lineno}"
        if keyword.arg is None or not isinstance(keyword.value, ast.Constant):
            raise ConfigurationError(f"{where}: a build does not run the file, so an option of natif.native has to be a literal; write one")
        options[keyword.arg] = keyword.value.value
    try:
        Options.checked(**options)
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"natif: {path}:{definition.lineno}: {str(error).removeprefix('natif: ')}") from None
    return options


def required_by_decorator(modules: list[Module]) -> set[tuple[str, str]]:
    """The functions, as (file, name), whose decorator says require=True."""
    return {(module.place, name) for module in modules for name in required_names(module.tree)}


def required_names(tree: ast.Module) -> set[str]:
    """The qualified names of the functions of a file that have a decorator with require=True."""
    names: set[str] = set()

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            inner = prefix
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                if any(_requires(decorator) for decorator in child.decorator_list):
                    names.add(prefix + child.name)
                inner = f"{prefix}{child.name}.<locals>."
            elif isinstance(child, ast.ClassDef):
                inner = f"{prefix}{child.name}."
            visit(child, inner)

    visit(tree, "")
    return names


def _requires(decorator: ast.expr) -> bool:
    if not isinstance(decorator, ast.Call):
        return False
    return any(
        keyword.arg == "require" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True
        for keyword in decorator.keywords
    )


def unmet(report: Report, names: dict[str, str], settings: Settings, required: set[tuple[str, str]]) -> list[str]:
    """One line for each function that has to be native and is not. `names` gives the module of each file."""
    import fnmatch

    lines = []
    found = set()
    for function in report.functions:
        full = f"{names.get(function.file, '')}:{function.name}"
        patterns = [pattern for pattern in settings.require if fnmatch.fnmatchcase(full, pattern)]
        found.update(patterns)
        if not function.is_native and (patterns or (function.file, function.name) in required):
            lines.append(
                f"natif: {function.file}:{function.line}: {function.name} has to be native but stays Python: {reason_of(function)}"
            )
    for pattern in settings.require:
        if pattern not in found:
            lines.append(
                f"natif: {settings.root}/pyproject.toml: [tool.natif] require: no typed function matches {pattern!r}; write MODULE:NAME"
            )
    return lines


def _shipped_text(source: bytes, functions: list[Function]) -> bytes:
    """The source as it is shipped: as written, with one more line where functions without a decorator are native."""
    if all(function.claim["decorated"] for function in functions):
        return source
    end = b"" if source.endswith((b"\n", b"\r")) else b"\n"
    return source + end + ATTACH_LINE.encode() + b"\n"
