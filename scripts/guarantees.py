"""docs/guarantees.md, from the marks `pytest.mark.situation(group, what, eager=…, natif=…)` of the tests: one row for each, with the
test that proves it. The tests are read, not imported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

GROUPS = (
    "Gradients",
    "Graphs",
    "Arguments",
    "Scopes and hooks",
    "Errors",
    "Threads",
    "Processes",
    "State",
    "Cache and artifacts",
    "Fuzzing",
)

INTRODUCTION = """# Guarantees

{note}
A native function is never silently different from its Python body. Where running natively would be, the body runs; what natif can't take is
an error that says so. This table is what that means, situation by situation: what eager does, what natif does, and the test that proves
it. `make fuzz` tries random programs under random stacks of these situations for as long as you like.
"""


@dataclass(frozen=True)
class Row:
    """A situation and its test."""

    group: str
    what: str
    eager: str
    natif: str
    test: str


def rows() -> Iterator[Row]:
    """The situations of all tests, in the order of files and lines."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        texts: dict[str, object] = {}  # the file's constants, which its marks may use
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.targets[0], ast.Name):
                texts[node.targets[0].id] = node.value.value
            if not isinstance(node, ast.FunctionDef):
                continue
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.situation":
                    group, what = (ast.literal_eval(argument) for argument in decorator.args)
                    told = {keyword.arg: evaluated(keyword.value, texts) for keyword in decorator.keywords}
                    link = f"[{node.name}](../{path.relative_to(ROOT).as_posix()})"
                    yield Row(group, what, told["eager"], told["natif"], link)


def evaluated(expression: ast.expr, texts: dict[str, object]) -> str:
    """A text, a name of one, or a sum of such."""
    return str(eval(compile(ast.Expression(expression), "<mark>", "eval"), {"__builtins__": {}}, texts))


def guarantees_page(note: str) -> str:
    """The whole page."""
    found = list(rows())
    unknown = {row.group for row in found} - set(GROUPS)
    if unknown:
        raise ValueError(f"situations of groups that scripts/guarantees.py does not know: {sorted(unknown)}")
    page = INTRODUCTION.format(note=note)
    for group in GROUPS:
        page += f"\n## {group}\n\n| situation | eager | natif | test |\n|---|---|---|---|\n"
        for row in (row for row in found if row.group == group):
            page += "| " + " | ".join(cell.replace("|", "\\|") for cell in (row.what, row.eager, row.natif, row.test)) + " |\n"
    return page
