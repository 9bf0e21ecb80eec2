"""The self-test of a built package, `python -m PKG.natif_selftest`: every native function against its Python body on the stored inputs.

A stored input is a size, a seed and whether special values are mixed in; the build found which axes of the parameters have to agree and
which are fixed. Values come from random.Random.random(), whose sequence for a seed is the same in every Python. Functions built with
numerics="exact" have to give eager's very bits (any NaN for a NaN), or its class of error; those with "fast" may differ by a relative 1e-5,
and on special values by NaN, as a softmax row with a NaN or +inf is all NaN there, and by whole numbers that depend on one.
"""

import importlib
import json
import os
import random
import sys
from pathlib import Path
from typing import Any

_SPECIAL = (float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 1e-40, 3e38)
_FAST_TOLERANCE = 1e-5


def main(file: str) -> int:
    """Tests the package that the self-test module `file` belongs to, and prints one line for each function. 1 where one fails."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    folder = Path(file).resolve().parent
    folder = folder / "_natif" if (folder / "_natif").is_dir() else folder
    try:
        manifest = json.loads((folder / "manifest.json").read_bytes())
        descriptions = {
            name: json.loads((folder / module["description"]).read_bytes())
            for name, module in manifest["modules"].items()
            if module["artifact"]
        }
    except (OSError, ValueError, KeyError) as error:
        print(f"natif: the self-test of {folder} can't start: {error}; install the package again", file=sys.stderr)
        return 1
    if not descriptions:
        print("natif: the package has no native functions")
        return 0
    failed = 0
    for module_name, description in descriptions.items():
        for name, described in description["functions"].items():
            if "parameters" in described:
                said = test_function(module_name, name, described)
                failed += not said.startswith("ok")
                print(f"{module_name}:{name}: {said}", flush=True)
    return 1 if failed else 0


def test_function(module_name: str, name: str, described: dict[str, Any]) -> str:
    """The verdict on one function: a sentence that begins with "ok" where nothing is wrong."""
    if "<locals>" in name:
        return "ok, not compared: it is made inside another function"
    try:
        module = importlib.import_module(module_name)
        function: Any = module
        for step in name.split("."):
            function = getattr(function, step)
    except Exception as error:
        return f"FAILED: it can't be imported: {type(error).__name__}: {error}"
    if not getattr(function, "is_native", False):
        return f"FAILED: it is not native: {_why(function)}"
    same = refused = 0
    for case in described["cases"]:
        arguments = make_arguments(described["parameters"], case, vars(module))
        before = function.calls["native"]
        native, eager = outcome(function, arguments), outcome(function.python, arguments)
        if eager[0] == "error":
            if native[0] == "error" and native[1] is eager[1]:
                refused += 1
                continue
            return f"FAILED: for {_shown(case)} eager raises {eager[1].__name__}, native code does not"
        if function.calls["native"] == before:
            return f"FAILED: for {_shown(case)} the call ran in Python: {function.calls['python']}"
        if not agree(native, eager, described["numerics"], case["special"]):
            return f"FAILED: for {_shown(case)} native code and eager differ"
        same += 1
    if not same:
        return "ok, not compared: eager refuses all of the stored inputs, as native code does"
    return f"ok, {same} {'input' if same == 1 else 'inputs'}" + (f", {refused} refused by both" if refused else "")


def make_arguments(parameters: list[dict[str, Any]], case: dict[str, Any], namespace: dict[str, Any]) -> dict[str, Any]:
    """The arguments of one case by name. Axes that have to agree with a module-level tensor take its size."""
    source = random.Random(case["seed"])
    sizes: dict[str, int] = dict(case.get("sizes", {}))
    for parameter in parameters:
        if parameter["hidden"] and parameter["kind"] == "tensor":
            shape = getattr(namespace.get(parameter["name"]), "shape", ())
            sizes.update({name: int(size) for name, size in zip(parameter["sizes"], shape, strict=False) if isinstance(name, str)})
    first = next((parameter["name"] for parameter in parameters if parameter["kind"] == "tensor"), None)
    return {
        parameter["name"]: _value(parameter, {**case, "special": case["special"] and parameter["name"] == first}, sizes, source)
        for parameter in parameters
        if not parameter["hidden"]
    }


def _value(parameter: dict[str, Any], case: dict[str, Any], sizes: dict[str, int], source: random.Random) -> Any:
    kind = parameter["kind"]
    if kind == "int":
        return 1 + int(source.random() * 4)
    if kind == "float":
        return 0.5 + source.random()
    if kind == "bool":
        return source.random() < 0.5
    import numpy as np
    import tensorflow as tf

    shape = [sizes.get(size, case["size"]) if isinstance(size, str) else size for size in parameter["sizes"]]
    count = int(np.prod(shape, dtype=np.int64))
    if parameter["dtype"].startswith("float"):
        values = [4.0 * source.random() - 2.0 for _ in range(count)]
        if case["special"]:
            values[:: len(_SPECIAL) - 3] = [_SPECIAL[index % len(_SPECIAL)] for index in range(len(values[:: len(_SPECIAL) - 3]))]
    elif parameter["dtype"] == "bool":
        values = [source.random() < 0.5 for _ in range(count)]
    else:
        values = [int(source.random() * 200) - 100 for _ in range(count)]
    return tf.constant(np.array(values, dtype=parameter["dtype"]).reshape(shape))


def outcome(function: Any, arguments: dict[str, Any]) -> tuple[str, Any]:
    """("value", the results) or ("error", the exception's class)."""
    try:
        result = function(**arguments)
    except Exception as error:
        return "error", type(error)
    return "value", result if isinstance(result, tuple) else (result,)


def agree(native: tuple[str, Any], eager: tuple[str, Any], numerics: str, special: bool = False) -> bool:
    """Whether two outcomes are the same: to the bit, or within the tolerance of numerics="fast", for special values or usual ones."""
    if native[0] != "value" or len(native[1]) != len(eager[1]):
        return False
    return all(_same(one, other, numerics, special) for one, other in zip(native[1], eager[1], strict=True))


def _same(one: Any, other: Any, numerics: str, special: bool) -> bool:
    if type(one) is not type(other):
        return False
    if not hasattr(one, "numpy"):
        return repr(one) == repr(other)
    import numpy as np

    left, right = one.numpy(), other.numpy()
    if left.dtype != right.dtype or left.shape != right.shape:
        return False
    if numerics == "exact":
        # Which of two NaNs a sum passes on is the processor's choice by operand order; IEEE 754 gives it no meaning.
        both_nan = (left != left) & (right != right)
        return bool(np.where(both_nan, 0, left).tobytes() == np.where(both_nan, 0, right).tobytes())
    close = np.isclose(left, right, rtol=_FAST_TOLERANCE, atol=_FAST_TOLERANCE, equal_nan=True)
    if special:
        close |= left != left if left.dtype.kind == "f" else True
    return bool(close.all())


def _why(function: Any) -> str:
    if os.environ.get("NATIF_MODE") == "python":
        return "NATIF_MODE is python"
    return str(getattr(getattr(function, "report", None), "reason", "")) or "it was replaced after the build"


def _shown(case: dict[str, Any]) -> str:
    return f"size {case['size']}, seed {case['seed']}" + (", special values" if case["special"] else "")
