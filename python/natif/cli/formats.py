"""The report of `natif check` as text in ruff's manner, as JSON, as SARIF 2.1.0 and as GitHub's workflow commands.

Lines and columns are 1-based here, columns in characters; the report has them as 0-based bytes.
"""

import functools
import json
import os
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from natif._version import __version__
from natif.cli.terminal import Terminal
from natif.report import FunctionReport, Report, Site

_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def text(report: Report, unmet: Iterable[str], terminal: Terminal) -> None:
    """Every function with every site, then a line with the counts."""
    for problem in report.problems:
        terminal.line(f"{_place(problem, terminal)} {terminal.paint(problem.code, 'bold', 'red')} {problem.message}")
    for function in report.functions:
        _function(function, terminal)
    for line in unmet:
        terminal.line(terminal.paint(line, "bold", "red"))
    terminal.line(summary(report))


def _function(function: FunctionReport, terminal: Terminal) -> None:
    verdict = terminal.paint("is native", "bold", "green") if function.is_native else terminal.paint("stays Python", "bold", "yellow")
    reason = f": {function.reason}" if function.reason else ""
    place = terminal.paint(f"{relative(function.file)}:{function.line}:1:", "dim")
    terminal.line(f"{place} {terminal.paint(function.name, 'bold')} {verdict}{reason}")
    for site in function.sites:
        if site.outcome == "Claimed":
            where = ", ".join(filter(None, [site.lane, "" if site.exact else "not exact"]))
            terminal.line(
                f"{_place(site, terminal)}   {site.target} {terminal.paint(site.rule, 'cyan')}" + (f" [{where}]" if where else "")
            )
        else:
            terminal.line(f"{_place(site, terminal)}   {site.target} {terminal.paint(site.code, 'bold', 'red')} {site.message}")
            if site.suggestion:
                terminal.line(f"    {terminal.paint('help:', 'bold', 'cyan')} {site.suggestion}")


def _place(site: Site, terminal: Terminal) -> str:
    return terminal.paint(f"{relative(site.file)}:{site.line}:{column(site)}:", "dim")


def summary(report: Report) -> str:
    """How many typed functions there are, and how many are native."""
    native = sum(function.is_native for function in report.functions)
    count = len(report.functions)
    said = f"{count} typed function{'' if count == 1 else 's'}: {native} native, {count - native} in Python"
    problems = len(report.problems)
    return said + (f"; {problems} file{'' if problems == 1 else 's'} could not be checked" if problems else "")


def as_json(report: Report, unmet: Iterable[str]) -> str:
    """The whole report as one object; columns are 1-based characters as in the other formats."""
    native = sum(function.is_native for function in report.functions)
    content = {
        "natif": __version__,
        "functions": [
            {
                "name": function.name,
                "file": relative(function.file),
                "line": function.line,
                "is_native": function.is_native,
                "reason": function.reason,
                "sites": [_site(site) for site in function.sites],
            }
            for function in report.functions
        ],
        "problems": [_site(problem) for problem in report.problems],
        "unmet": list(unmet),
        "summary": {"functions": len(report.functions), "native": native, "python": len(report.functions) - native},
    }
    return json.dumps(content, indent=2)


def _site(site: Site) -> dict[str, Any]:
    return {**asdict(site), "file": relative(site.file), "column": column(site), "end_column": end_column(site)}


def as_sarif(report: Report, unmet: Iterable[str]) -> str:
    """What stays Python and why, as a SARIF log: a note for each site, an error for each file that can't be checked."""
    found = [(site, "note") for site in report.sites if site.outcome != "Claimed" and site not in report.problems]
    found += [(problem, "error") for problem in report.problems]
    rules = sorted({site.code for site, _ in found})
    results = [
        {
            "ruleId": site.code,
            "ruleIndex": rules.index(site.code),
            "level": level,
            "message": {"text": _sentence(site)},
            "locations": [{"physicalLocation": _location(site)}],
        }
        for site, level in found
    ]
    results += [{"level": "error", "message": {"text": line.removeprefix("natif: ")}} for line in unmet]
    driver = {"name": "natif", "version": __version__, "rules": [{"id": rule} for rule in rules]}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _location(site: Site) -> dict[str, Any]:
    region = {"startLine": site.line, "startColumn": column(site), "endLine": max(site.end_line, site.line), "endColumn": end_column(site)}
    if region["endLine"] == region["startLine"]:
        region["endColumn"] = max(region["endColumn"], region["startColumn"])
    from urllib.parse import quote

    return {"artifactLocation": {"uri": quote(relative(site.file).replace(os.sep, "/"))}, "region": region}


def as_github(report: Report, unmet: Iterable[str]) -> str:
    """GitHub's workflow commands: annotations at the lines of a pull request."""
    lines = [_annotation("error" if site in report.problems else "notice", site) for site in report.sites if site.outcome != "Claimed"]
    return "\n".join([*lines, *(f"::error::{_escaped(line.removeprefix('natif: '))}" for line in unmet)])


def _annotation(kind: str, site: Site) -> str:
    facts = {
        "file": relative(site.file),
        "line": site.line,
        "endLine": max(site.end_line, site.line),
        "col": column(site),
        "title": site.code,
    }
    listed = ",".join(f"{name}={_escaped(str(value)).replace(':', '%3A').replace(',', '%2C')}" for name, value in facts.items())
    return f"::{kind} {listed}::{_escaped(_sentence(site))}"


def _escaped(value: str) -> str:
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _sentence(site: Site) -> str:
    who = f"{site.function} stays Python: " if site.function else ""
    return f"{who}{site.message}" + (f"; {site.suggestion}" if site.suggestion else "")


def relative(file: str) -> str:
    """The path from the current folder where the file is below it."""
    return _relative(file, os.getcwd())  # noqa: PTH109


@functools.lru_cache(maxsize=64)
def _relative(file: str, folder: str) -> str:
    try:
        return str(Path(folder, file).relative_to(folder))
    except ValueError:
        return file


def column(site: Site) -> int:
    """The 1-based column in characters where the site begins."""
    return _characters(site.file, site.line, site.column) + 1


def end_column(site: Site) -> int:
    """The 1-based column in characters after the site's last one."""
    return _characters(site.file, site.end_line, site.end_column) + 1


def _characters(file: str, line: int, column_in_bytes: int) -> int:
    lines = _lines(file)
    if not 1 <= line <= len(lines):
        return column_in_bytes
    return len(lines[line - 1][:column_in_bytes].decode(errors="replace"))


@functools.lru_cache(maxsize=64)
def _lines(file: str) -> list[bytes]:
    import tokenize

    try:
        with tokenize.open(file) as stream:
            return [line.encode() for line in stream.read().split("\n")]
    except (OSError, SyntaxError, ValueError):
        return []


WRITERS: dict[str, Callable[[Report, Iterable[str]], str]] = {"json": as_json, "sarif": as_sarif, "github": as_github}
