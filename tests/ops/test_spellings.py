"""The registry lists every public name of its functions."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

import tensorflow as tf
from op_examples import registry

# Copies of the whole interface, another framework's inside TensorFlow, and the generated functions of all ops.
ELSEWHERE = {"tf.compat", "tf.keras", "tf.raw_ops"}


def public_functions(module: ModuleType, prefix: str, found: dict[str, Any]) -> dict[str, Any]:
    for name in dir(module):
        spelling = f"{prefix}.{name}"
        if name.startswith("_") or spelling in ELSEWHERE:
            continue
        value = getattr(module, name)
        if inspect.ismodule(value) and value.__name__.startswith("tensorflow._api"):
            public_functions(value, spelling, found)
        elif callable(value):
            found[spelling] = value
    return found


def test_every_public_spelling_is_listed() -> None:
    functions = public_functions(tf, "tf", {})
    assert len(functions) > 500
    for op in registry():
        listed = set(op["spellings"])
        assert listed <= set(functions), op["node"]
        same = {name for name, function in functions.items() if any(function is functions[spelling] for spelling in listed)}
        assert same == listed, op["node"]


def test_parameters_are_those_of_the_function() -> None:
    functions = public_functions(tf, "tf", {})
    for op in registry():
        for spelling in op["spellings"]:
            ours = [(parameter["name"], parameter["required"]) for parameter in op["parameters"]]
            theirs = inspect.signature(functions[spelling]).parameters.values()
            assert ours == [(parameter.name, parameter.default is inspect.Parameter.empty) for parameter in theirs], spelling
