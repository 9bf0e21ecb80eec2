"""Writes random typed functions: nested control flow, numbers, every call form of the registry, several results, calls of each other.

Each variable has a sample value, which eager computes as the text is written; so operands fit, and a variable that a loop or a branch
changes keeps its dtype and shape. Sizes are letters (SIZES); a program holds for whatever sizes they get.
"""

from __future__ import annotations

import ast
import random
from dataclasses import dataclass, field
from typing import Any

import fuzz_forms as forms
import numpy as np
import tensorflow as tf
from fuzz_forms import Expression, Retry

HEAD = "import tensorflow as tf\nimport natif\nfrom natif.types import *\n\nLIMIT = 3\nFACTOR = 0.75\n\n\n"
SAMPLE = {"r": 5, "c": 7, "k": 11, "p": 2, "q": 3, "1": 1}
SHAPES = {
    0: [""],
    1: ["c", "c", "r", "k", "1"],
    2: ["rc", "rc", "rc", "ck", "cc", "1c", "r1", "kc"],
    3: ["prc", "prc", "pck", "1rc", "p1c"],
    4: ["qprc", "qprc", "q1r1", "1p1c"],
    5: ["q1prc"],
    6: ["1q1prc"],
}
RANKS = [2] * 12 + [1] * 5 + [3] * 3 + [0, 4, 4, 5, 6]
MARKER = {"float32": "F32", "int64": "I64", "int32": "I32"}
RESULTS = 3
TRIES = 30
EAGER = type(tf.constant(0.0))


@dataclass
class Parameter:
    """A parameter; `shape` has a letter for each axis of a tensor, `kind` is tensor, int, float or bool."""

    name: str
    kind: str
    shape: str = ""
    annotation: str = ""
    default: str = ""


@dataclass
class Function:
    """A generated function. `fixed` has the sizes that its annotations fix; a `safe` one may be called with sizes that don't fit, and
    `inlined` are those that others may call."""

    name: str
    parameters: list[Parameter]
    text: str
    results: list[Any]
    fixed: dict[str, int]
    safe: bool
    inlined: bool


@dataclass
class Return:
    """Where a return may stand, with what was known there."""

    variables: dict[str, Any]
    condition: str


Block = list[Any]


@dataclass
class Writer:
    """Writes one function."""

    rng: random.Random
    others: list[Function]
    namespace: dict[str, Any]
    variables: dict[str, Any] = field(default_factory=dict)
    stable: set[str] = field(default_factory=set)
    count: int = 0
    budget: int = 0

    # Numbers. Every int stays small, so that nothing leaves 64 bits; no float that meets a tensor is -0.0, which eager's cache of numbers
    # takes for 0.0.

    def names(self, kind: type) -> list[str]:
        return [name for name, value in self.variables.items() if type(value) is kind]

    def tensors(self) -> list[str]:
        return [name for name, value in self.variables.items() if type(value) is EAGER]

    def integer(self, depth: int = 2) -> str:
        rng, names = self.rng, self.names(int)
        sizes = [name for name in self.tensors() if self.variables[name].shape.rank]
        kind = rng.randrange(12) if depth else rng.randrange(3)
        if kind == 0 or (kind <= 2 and not names):
            return str(rng.randint(-4, 9))
        if kind <= 2:
            return rng.choice([*names, "LIMIT"])
        a, b = self.integer(depth - 1), self.integer(depth - 1)
        if kind <= 5:
            return f"(({a} {rng.choice('+-*')} {b}) % {rng.choice([5, 7, 97])})"
        if kind == 6 and sizes:
            name = rng.choice(sizes)
            rank = self.variables[name].shape.rank
            return rng.choice([f"{name}.shape[{rng.randrange(-rank, rank)}]", f"len({name})", f"len({name}.shape)"])
        choices = [f"min({a}, {b})", f"max({a}, {b}, 2)", f"abs({a})", f"(-{a})", f"int({self.boolean(depth - 1)})", f"({a} // {b})"]
        choices += [f"({a} if {self.boolean(depth - 1)} else {b})", f"({a} % {b})", f"({a} & {b})", f"({a} ^ 3)", f"({a} >> 1)", f"(~{a})"]
        return rng.choice(choices)

    def real(self, depth: int = 2) -> str:
        rng, names = self.rng, self.names(float)
        kind = rng.randrange(10) if depth else rng.randrange(3)
        if kind == 0 or (kind <= 2 and not names):
            return str(rng.choice([0.5, -1.25, 3.0, 1e-3, 0.1, 2.5, -0.3]))
        if kind <= 2:
            return rng.choice([*names, "FACTOR"])
        a, b = self.real(depth - 1), self.real(depth - 1)
        choices = [
            f"({a} {rng.choice('+-*')} {b})",
            f"({a} / {b})",
            f"({a} + {self.integer(depth - 1)})",
            f"float({self.integer(depth - 1)})",
        ]
        choices += [f"({self.integer(depth - 1)} / 4)", f"min({a}, {b})", f"max({a}, {b})", f"abs({a})", f"(-{a})"]
        return rng.choice([*choices, f"({a} if {self.boolean(depth - 1)} else {b})"])

    def boolean(self, depth: int = 2) -> str:
        rng, names = self.rng, self.names(bool)
        kind = rng.randrange(8) if depth else 0
        if kind == 0 and names:
            return rng.choice(names)
        compare = rng.choice(["<", "<=", ">", ">=", "==", "!="])
        if kind <= 3:
            return f"({self.integer(max(depth - 1, 0))} {compare} {self.integer(max(depth - 1, 0))})"
        if kind == 4:
            return f"({self.real(depth - 1)} {compare} {rng.choice([self.real(depth - 1), self.integer(depth - 1)])})"
        if kind == 5:
            return f"(0 <= {self.integer(depth - 1)} < {self.integer(depth - 1)})"
        if kind == 6:
            return f"(not {self.boolean(depth - 1)})"
        return f"({self.boolean(depth - 1)} {rng.choice(['and', 'or'])} {self.boolean(depth - 1)})"

    def number(self) -> Expression:
        """A number that meets a tensor."""
        text = self.rng.choice([self.integer(1), f"({self.real(1)} + 0.0)", str(self.rng.choice([0, 1, 2, 0.5, 1.5, -3, 0.1]))])
        found = self.computed(text)
        if isinstance(found.value, float) and found.value == 0:
            raise Retry
        return found

    # Tensors.

    def computed(self, text: str) -> Expression:
        return forms.evaluate(text, {**self.namespace, **self.variables})

    def operand(self, depth: int) -> Expression:
        floats = [name for name in self.tensors() if self.variables[name].dtype == tf.float32]
        if depth == 0 or self.rng.random() < 0.65:
            if not floats:
                raise Retry
            name = self.rng.choice(floats + floats[-3:] * 2)
            return Expression(name, self.variables[name])
        return self.tensor(depth - 1)

    def tensor(self, depth: int = 2) -> Expression:
        """A call of some op, or a choice between two tensors of one shape."""
        for _ in range(TRIES):
            try:
                return self.choice_of_two(depth) if self.rng.random() < 0.04 else self.op_call(self.rng.choice(forms.ops()), depth)
            except Retry:
                continue
        return self.operand(0)

    def op_call(self, op: dict[str, Any], depth: int) -> Expression:
        operands = [self.operand(depth) for _ in forms.operands_of(op)]
        if forms.takes_numbers(op) and self.rng.random() < 0.35:
            operands[self.rng.randrange(2)] = self.number()
        return forms.call(self.rng, op, operands, {**self.namespace, **self.variables})

    def choice_of_two(self, depth: int) -> Expression:
        one = self.operand(depth)
        other = self.of_shape(one.value)
        return self.computed(f"({one.text} if {self.boolean(1)} else {other.text})")

    def of_shape(self, like: tf.Tensor) -> Expression:
        """A tensor of this dtype and shape."""
        same = [name for name in self.tensors() if fits(self.variables[name], like)]
        for _ in range(TRIES):
            if like.dtype != tf.float32 or (same and self.rng.random() < 0.1):
                break
            try:
                found = self.tensor(1) if self.rng.random() < 0.3 or not same else self.pointwise_on(self.rng.choice(same))
            except Retry:
                continue
            if fits(found.value, like):
                return found
        if not same:
            raise Retry
        name = self.rng.choice(same)
        return Expression(name, self.variables[name])

    def pointwise_on(self, name: str) -> Expression:
        op = self.rng.choice(forms.by_shape("pointwise") + forms.by_shape("softmax"))
        operands = [self.operand(1) for _ in forms.operands_of(op)]
        if forms.takes_numbers(op) and self.rng.random() < 0.3:
            operands[-1] = self.number()
        operands[0 if len(operands) == 1 or self.rng.random() < 0.6 else 1] = Expression(name, self.variables[name])
        return forms.call(self.rng, op, operands, {**self.namespace, **self.variables})

    # Statements.

    def hold(self, name: str, value: Any) -> None:
        """Gives a variable a sample; the variable is the newest one then."""
        self.variables.pop(name, None)
        self.variables[name] = value

    def fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def block(self, depth: int, loop: bool) -> Block:
        lines: Block = []
        for _ in range(self.rng.randint(1, 4 if depth else 7)):
            if self.budget <= 0:
                break
            self.budget -= 1
            try:
                lines += self.statement(depth, loop)
            except Retry:
                continue
        return lines or ["pass"]

    def statement(self, depth: int, loop: bool) -> Block:
        rng = self.rng
        kind = rng.randrange(20)
        if kind <= 6 or depth >= 3:
            return self.change(depth) if depth and rng.random() < 0.7 else self.bind(depth)
        if kind <= 8:
            return self.number_statement(depth)
        if kind == 9:
            return self.change(depth)
        if kind == 10:
            return self.swap()
        if kind <= 13:
            return self.branch(depth, loop)
        if kind <= 15:
            return self.counted_loop(depth)
        if kind == 16:
            return self.while_loop(depth)
        if kind == 17 and loop:
            return [(f"if {self.boolean(1)}:", [rng.choice(["break", "continue"])])]
        if kind == 18 and self.others:
            return self.helper(depth)
        if depth:
            return [Return(dict(self.variables), self.boolean(1))]
        return self.bind(depth)

    def bind(self, depth: int) -> Block:
        """A name for a tensor: a new one, or at the outermost level an old one with another shape."""
        found = self.tensor()
        old = [name for name in self.tensors() if name not in self.stable]
        name = self.rng.choice(old) if not depth and old and self.rng.random() < 0.25 else self.fresh("t")
        self.hold(name, found.value)
        return [f"{name} = {found.text}"]

    def change(self, depth: int) -> Block:
        """A tensor variable that keeps its shape."""
        names = [name for name in self.tensors() if name not in self.stable and self.variables[name].dtype == tf.float32]
        if not names:
            return self.bind(depth)
        name = self.rng.choice(names)
        if self.rng.random() < 0.2:
            operator = self.rng.choice(["+", "-", "*", "/"])
            other = self.rng.choice([self.operand, lambda _: self.number()])(1)
            found = self.computed(f"{name} {operator} {other.text}")
            if not fits(found.value, self.variables[name]):
                raise Retry
            self.hold(name, found.value)
            return [f"{name} {operator}= {other.text}"]
        found = self.of_shape(self.variables[name])
        self.hold(name, found.value)
        return [f"{name} = {found.text}"]

    def number_statement(self, depth: int) -> Block:
        letter, text, kind = self.rng.choice([("i", self.integer(), int), ("s", self.real(), float), ("b", self.boolean(), bool)])
        found = self.computed(text)
        if type(found.value) is not kind:
            raise Retry
        old = [name for name in self.names(kind) if name not in self.stable]
        name = self.rng.choice(old) if old and (depth or self.rng.random() < 0.3) else self.fresh(letter)
        if kind is int and name in old and self.rng.random() < 0.3:
            text = f"({text} + {name}) % 13"
            found = self.computed(text)
        self.hold(name, found.value)
        return [f"{name} = {text}"]

    def swap(self) -> Block:
        names = [name for name in self.tensors() if name not in self.stable]
        pairs = [(one, other) for one in names for other in names if one < other and fits(self.variables[one], self.variables[other])]
        if not pairs:
            raise Retry
        one, other = self.rng.choice(pairs)
        found = self.of_shape(self.variables[one])
        self.variables[one], self.variables[other] = self.variables[other], found.value
        return [f"{one}, {other} = {other}, {found.text}"]

    def inner(self, depth: int, loop: bool, bound: dict[str, Any] | None = None) -> Block:
        """A block with a scope of its own: what it binds anew is not known after it."""
        before, stable = dict(self.variables), set(self.stable)
        if bound:
            self.variables |= bound
            self.stable |= set(bound)
        lines = self.block(depth + 1, loop)
        after = self.variables
        self.variables, self.stable = {name: after[name] for name in before}, stable
        return lines

    def branch(self, depth: int, loop: bool) -> Block:
        """if, elif, else; sometimes with a new name that every branch binds."""
        arms = self.rng.choice([1, 2, 2, 3])
        shared = self.tensor(1) if arms > 1 and self.rng.random() < 0.4 else None
        name = self.fresh("t")
        lines: Block = []
        for arm in range(arms):
            last = arm == arms - 1 and arms > 1
            header = "else:" if last else f"{'if' if arm == 0 else 'elif'} {self.boolean()}:"
            body = self.inner(depth, loop)
            if shared is not None:
                body = [*body, f"{name} = {shared.text if arm == 0 else self.of_shape(shared.value).text}"]
            lines.append((header, body))
        if shared is not None:
            self.hold(name, shared.value)
        return lines

    def counted_loop(self, depth: int) -> Block:
        rng, index = self.rng, self.fresh("i")
        bound = f"({self.integer(1)}) % {rng.choice([2, 3, 4])}"
        ranges = [f"range({bound})", f"range({rng.randint(-2, 1)}, {bound})", f"range({bound}, {rng.randint(-2, 0)}, -{rng.randint(1, 2)})"]
        header = f"for {index} in {rng.choice(ranges)}:"
        lines: Block = [(header, self.inner(depth, True, {index: 1}))]
        if rng.random() < 0.15:
            lines.append(("else:", self.inner(depth, False)))
        return lines

    def while_loop(self, depth: int) -> Block:
        counter = self.fresh("i")
        body = self.inner(depth, True, {counter: 1})
        return [f"{counter} = ({self.integer(1)}) % 4", (f"while {counter} > 0:", [f"{counter} -= 1", *body])]

    def helper(self, depth: int) -> Block:
        """A call of another generated function."""
        other = self.rng.choice(self.others)
        arguments = []
        for parameter in other.parameters:
            if parameter.kind == "tensor":
                like = [name for name in self.tensors() if self.variables[name].shape.rank == len(parameter.shape)]
                like = [name for name in like if self.variables[name].dtype == tf.float32]
                if not like:
                    raise Retry
                arguments.append(self.rng.choice(like))
            else:
                arguments.append({"int": self.integer, "float": self.real, "bool": self.boolean}[parameter.kind](1))
        found = self.computed(f"{other.name}({', '.join(arguments)})")
        values = found.value if isinstance(found.value, tuple) else (found.value,)
        names = [self.fresh("t") for _ in values]
        self.variables |= zip(names, values, strict=True)
        return [f"{', '.join(names)} = {found.text}"]


def fits(one: Any, other: Any) -> bool:
    """Whether a variable may change from one to the other in a loop."""
    return bool(type(one) is EAGER and one.dtype == other.dtype and one.shape == other.shape)


def kind_of(value: Any) -> Any:
    """What the results' annotation says of a value."""
    return (value.dtype.name, value.shape.rank) if tf.is_tensor(value) else type(value).__name__


def annotation_of(value: Any) -> str:
    return f"Tensor{MARKER[value.dtype.name]}Cpu{value.shape.rank}D" if tf.is_tensor(value) else type(value).__name__


def lines_of(block: Block, results: list[str], kinds: list[Any], rng: random.Random, indent: str = "    ") -> list[str]:
    """The text of a block. A Return becomes one where its scope has values for all results."""
    lines: list[str] = []
    for each in block:
        if isinstance(each, str):
            lines.append(indent + each)
        elif isinstance(each, Return):
            names = []
            for kind in kinds:
                fitting = [name for name, value in each.variables.items() if kind_of(value) == kind]
                names.append(rng.choice(fitting) if fitting else "")
            if all(names):
                lines += [f"{indent}if {each.condition}:", f"{indent}    return {', '.join(names)}"]
        else:
            header, body = each
            inner = lines_of(body, results, kinds, rng, indent + "    ")
            lines += [indent + header, *(inner or [f"{indent}    pass"])]
    return lines


def parameters_of(rng: random.Random) -> tuple[list[Parameter], dict[str, int]]:
    fixed = {letter: rng.choice([1, 4, 8, 16, 19]) for letter in "ck" if rng.random() < 0.15}
    parameters = []
    for number in range(rng.randint(1, 4)):
        shape = rng.choice(SHAPES[rng.choice(RANKS)])
        sizes = [fixed.get(letter, 1 if letter == "1" else None) for letter in shape]
        plain = f"TensorF32Cpu{len(shape)}D" if rng.random() < 0.8 else f'Tensor["float32", {len(shape)}]'
        named = ", ".join("1" if letter == "1" else str(fixed.get(letter, f'"{letter}"')) for letter in shape)
        exact = any(size is not None and letter != "1" for letter, size in zip(shape, sizes, strict=True))
        annotation = f'Tensor["float32", ({named},)]' if exact and shape else plain
        parameters.append(Parameter(f"x{number}", "tensor", shape, annotation))
    for number in range(rng.choice([0, 0, 1, 1, 2, 3])):
        kind = rng.choice(["int", "int", "float", "bool"])
        default = rng.choice({"int": ["0", "3"], "float": ["0.5"], "bool": ["True", "False"]}[kind]) if rng.random() < 0.3 else ""
        parameters.append(Parameter(f"n{number}", kind, "", kind, default))
    scalars = [each for each in parameters if each.kind != "tensor"]
    return [each for each in parameters if each.kind == "tensor"] + sorted(scalars, key=lambda each: bool(each.default)), fixed


def generate(rng: random.Random, name: str, others: list[Function], namespace: dict[str, Any]) -> Function:
    """One function. `others` are in the namespace and may be called."""
    parameters, fixed = parameters_of(rng)
    sizes = SAMPLE | fixed
    values = np.random.default_rng(rng.randrange(2**32))
    writer = Writer(rng, others, namespace, budget=rng.randint(4, 22))
    numbers = {"int": 2, "float": 0.5, "bool": True}
    for each in parameters:
        shape = [sizes[letter] for letter in each.shape]
        sample = tf.constant(values.uniform(0.2, 2, shape).astype(np.float32)) if each.kind == "tensor" else numbers[each.kind]
        writer.variables[each.name] = sample
    body: Block = []
    while writer.budget > 0:
        body += writer.block(0, False)
    candidates = [*writer.tensors()[-4:], *(writer.names(int) + writer.names(float))[-1:]]
    results = rng.sample(candidates, min(len(candidates), rng.choice([1, 1, 1, 2, RESULTS])))
    if not any(tf.is_tensor(writer.variables[result]) for result in results):
        results[0] = writer.tensors()[-1]
    kept = [writer.variables[result] for result in results]
    annotation = annotation_of(kept[0]) if len(kept) == 1 else f"tuple[{', '.join(map(annotation_of, kept))}]"
    separate = [", ".join(f"{each.name}: {each.annotation}{' = ' + each.default if each.default else ''}" for each in parameters)]
    lines = lines_of(body, results, [kind_of(value) for value in kept], rng)
    arrow = f" -> {annotation}" if rng.random() < 0.8 else ""
    text = f"def {name}({', '.join(separate)}){arrow}:\n" + "\n".join([*lines, f"    return {', '.join(results)}"]) + "\n"
    safe = not fixed and "matmul" not in text and "@" not in text and not any(other.name in text for other in others if not other.safe)
    inlined = not fixed and len(lines) < 12 and not returns_in_a_loop(text)
    return Function(name, parameters, text, kept, fixed, safe, inlined)


def returns_in_a_loop(text: str) -> bool:
    loops = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.For | ast.While)]
    return any(isinstance(node, ast.Return) for loop in loops for node in ast.walk(loop))
