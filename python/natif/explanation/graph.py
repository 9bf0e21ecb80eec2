"""Reads a graph's text form (src/ir/printer.h) into a tree of nodes for drawing."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_VALUE = r"%(?:[^\W\d]\w*\.)?\d+"
_DECLARED = re.compile(rf"(hidden )?({_VALUE}): (\w+(?:\[[\d?,]*\])?)")
_LINE = re.compile(rf"(?:(?P<results>{_VALUE}: [^=]*?) = )?(?P<op>[\w.]+)\((?P<arguments>(?:[^()\"]|\"(?:[^\"\\]|\\.)*\")*)\)(?P<rest>.*)")
_SITE = re.compile(r"#(\d+)")
_PLACE = re.compile(r"@(\d+):")


@dataclass
class Node:
    """One node. `label` is the op with its attributes and literal operands, `types` those of its results, `line` and `site` -1 for none."""

    op: str
    label: str
    operands: list[str]
    results: list[str]
    types: list[str]
    line: int = -1
    site: int = -1
    regions: list["Region"] = field(default_factory=list)


@dataclass
class Region:
    """A sequence of nodes. `arguments` are the values that it begins with, by name, each with its type."""

    arguments: dict[str, str]
    nodes: list[Node] = field(default_factory=list)

    def walk(self) -> Iterator[Node]:
        """Every node, outer before inner."""
        for node in self.nodes:
            yield node
            for region in node.regions:
                yield from region.walk()


def parse(text: str) -> Region:
    """The body of a function; its arguments are the parameters. Literals become part of the labels of the nodes that use them."""
    lines = text.splitlines()
    head = lines[0]
    body = Region({value: kind for _, value, kind in _DECLARED.findall(head.partition(") -> ")[0])})
    _read(iter(lines[1:]), body, {})
    return body


def _read(lines: Iterator[str], region: Region, literals: dict[str, str]) -> str:
    """Reads nodes into the region until it ends; returns what stands after its closing brace."""
    for line in lines:
        stripped = line.strip()
        if stripped.startswith("}"):
            return stripped[1:].strip()
        match = _LINE.match(stripped)
        if match is None:
            continue
        node = _node(match, literals)
        if node.op == "literal":
            literals[node.results[0]] = node.label
            continue
        region.nodes.append(node)
        rest = match["rest"]
        while rest.rstrip().endswith("{"):
            inner = Region({value: kind for _, value, kind in _DECLARED.findall(rest)})
            node.regions.append(inner)
            rest = _read(lines, inner, literals)
    return ""


def _node(match: re.Match[str], literals: dict[str, str]) -> Node:
    declared = _DECLARED.findall(match["results"] or "")
    arguments = _arguments(match["arguments"])
    operands = [argument for argument in arguments if argument.startswith("%")]
    site, place = _SITE.search(match["rest"]), _PLACE.search(match["rest"])
    op = match["op"]
    if op == "literal":
        label = next((argument.partition("=")[2] for argument in arguments if argument.startswith("value=")), "?")
    else:
        shown = [literals.get(argument, argument) for argument in arguments if argument in literals or _tells(argument)]
        label = f"{op}({', '.join(shown)})" if shown else op
    return Node(
        op,
        label,
        [operand for operand in operands if operand not in literals],
        [value for _, value, _ in declared],
        [kind for _, _, kind in declared],
        int(place[1]) if place else -1,
        int(site[1]) if site else -1,
    )


def _tells(argument: str) -> bool:
    """Whether it is an attribute worth showing: most flags are off."""
    return "=" in argument and not argument.endswith("=false")


def _arguments(text: str) -> list[str]:
    """Split at the commas that are in no string and no list."""
    return [argument.strip() for argument in re.findall(r'(?:"(?:[^"\\]|\\.)*"|\[[^\]]*\]|[^,"\[])+', text) if argument.strip()]
