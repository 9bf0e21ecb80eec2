"""The explanation of a function, found without importing its module or TensorFlow."""

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from natif.locating import source_file, split
from natif.packaging.errors import ConfigurationError, SourceError
from natif.report import FunctionReport, Site, function_report


@dataclass(frozen=True)
class Line:
    """One line of the function's source. `lanes` are those of the sites that begin on it, each once; `sites` the sites themselves."""

    number: int
    text: str
    lanes: tuple[str, ...]
    sites: tuple[Site, ...]


@dataclass(frozen=True)
class Explanation:
    """One function. `ir`, `plan` and `cpp` are "" where it stays Python."""

    module: str
    file: Path
    report: FunctionReport
    lines: tuple[Line, ...]
    ir: str = ""
    plan: str = ""
    cpp: str = ""

    @property
    def name(self) -> str:
        """The qualified name."""
        return self.report.name


def explain(target: str) -> Explanation:
    """The explanation of MODULE:FUNCTION. ConfigurationError where there is no such function, SourceError where its file does not parse."""
    from natif._compiler import claim_module, compile_module
    from natif.packaging.checks import module_name
    from natif.packaging.modules import decorator_options

    module, wanted = split(target)
    file = source_file(module)
    try:
        text = file.read_bytes()
        tree = ast.parse(text, str(file))
    except (SyntaxError, ValueError) as error:
        raise SourceError(f"natif: {file}:{getattr(error, 'lineno', 1)}: the file does not parse: {error}; correct it") from None
    dotted = module_name(file)
    claims = claim_module(tree, str(file), dotted)
    claim = next((each for each in reversed(claims) if each["name"] == wanted), None)
    if claim is None:
        known = ", ".join(each["name"] for each in claims if each["decorated"] or each["marked"]) or "none"
        raise ConfigurationError(f"natif: {file} has no function {wanted}; its typed functions: {known}")
    source = text.decode(errors="replace").splitlines()
    if not claim["native"]:
        report = function_report(claim, str(file))
        return Explanation(dotted, file, report, _lines(source, claim, report))
    definitions = {(node.lineno, node.col_offset): node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    options = decorator_options(definitions[claim["line"], claim["column"]], file) if claim["decorated"] else {}
    request = (claim, claim["name"], options.get("lane", "auto"), options.get("numerics", "exact"))
    plan = compile_module(tree, str(file), dotted, [request], ["native"])
    facts = plan.functions[0]
    report = function_report(claim, str(file), facts["sites"])
    cpp = "\n".join(text for _, _, text in plan.files)
    return Explanation(dotted, file, report, _lines(source, claim, report), facts["ir"], facts["plan"], cpp)


def _lines(source: list[str], claim: dict[str, Any], report: FunctionReport) -> tuple[Line, ...]:
    lines = []
    for number in range(claim["first_line"], claim["end_line"] + 1):
        sites = tuple(site for site in report.sites if site.line == number)
        lanes = tuple(dict.fromkeys(site.lane for site in sites if site.lane))
        lines.append(Line(number, source[number - 1] if number <= len(source) else "", lanes, sites))
    return tuple(lines)
