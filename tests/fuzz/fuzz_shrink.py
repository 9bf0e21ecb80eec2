"""Makes a failing program small: statements are taken out, blocks take the place of their statements, operands that of expressions, as long
as the difference stays."""

from __future__ import annotations

import ast
import copy
import time
from collections.abc import Callable, Iterator
from functools import partial

Check = Callable[[str], bool]
Edit = Callable[[], ast.Module]
BLOCKS = ("body", "orelse")


def smaller(source: str, function: str, fails: Check, seconds: float) -> str:
    """The smallest source found in this time that has the function and still fails."""
    best, place, progress, end = source, 0, True, time.monotonic() + seconds
    while place or progress:
        progress = False
        for index, edit in enumerate(edits(ast.parse(best), function)):
            if time.monotonic() > end:
                return best
            if index < place:
                continue
            candidate = text(edit())
            if candidate != best and fails(candidate):
                best, place, progress = candidate, index, True
                break
        else:
            if not place:
                return best
            place, progress = 0, True
    return best


def text(tree: ast.Module) -> str:
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def edits(tree: ast.Module, function: str) -> Iterator[Edit]:
    """Ways to take one thing away, large things first."""
    others = [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name != function]
    for names in [set(others), *({name} for name in others)]:
        yield partial(without_functions, tree, names)
    for index, (node, name) in enumerate(blocks(tree)):
        for place in reversed(range(len(getattr(node, name)))):
            statement = getattr(node, name)[place]
            if isinstance(node, ast.Module) or (isinstance(node, ast.FunctionDef) and isinstance(statement, ast.Return)):
                continue
            yield partial(with_block, tree, index, place, [])
            for inner in BLOCKS:
                if getattr(statement, inner, None):
                    yield partial(with_block, tree, index, place, getattr(statement, inner))
    for index, node in enumerate(expressions(tree)):
        for part in range(len(parts(node))):
            yield partial(with_part, tree, index, part)
    for index, node in enumerate(tree.body):
        if isinstance(node, ast.FunctionDef) and node.returns is not None:
            yield partial(without_annotation, tree, index)


def blocks(tree: ast.Module) -> list[tuple[ast.AST, str]]:
    return [(node, name) for node in ast.walk(tree) for name in BLOCKS if isinstance(getattr(node, name, None), list)]


def expressions(tree: ast.Module) -> list[ast.expr]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.expr)]


def without_functions(tree: ast.Module, names: set[str]) -> ast.Module:
    return ast.Module([node for node in tree.body if not (isinstance(node, ast.FunctionDef) and node.name in names)], [])


def with_block(tree: ast.Module, index: int, place: int, instead: list[ast.stmt]) -> ast.Module:
    """A copy in which one statement of the block with this index is replaced."""
    edited = copy.deepcopy(tree)
    node, name = blocks(edited)[index]
    block = getattr(node, name)
    block[place : place + 1] = copy.deepcopy(instead)
    if not block and name == "body":
        block.append(ast.Pass())
    return edited


def with_part(tree: ast.Module, index: int, part: int) -> ast.Module:
    """A copy in which the expression with this index is replaced by one of its parts."""
    edited = copy.deepcopy(tree)
    target = expressions(edited)[index]
    return Replacement(target, parts(target)[part]).visit(edited)


def without_annotation(tree: ast.Module, index: int) -> ast.Module:
    edited = copy.deepcopy(tree)
    edited.body[index].returns = None  # type: ignore[attr-defined]
    return edited


def parts(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.Call):
        return [*node.args, *(keyword.value for keyword in node.keywords)]
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load) and len(node.elts) > 1:
        return node.elts
    if isinstance(node, ast.Compare):
        return [ast.Constant(True), ast.Constant(False)]
    return []


class Replacement(ast.NodeTransformer):
    """Puts one expression in the place of another."""

    def __init__(self, old: ast.expr, new: ast.expr) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)
