"""The capability manifest: what this build of natif makes native, derived from the compiler itself.

natif         version
rules         one for each op: rule ("natif/Relu"), op (TensorFlow's name), spellings, operator, summary, forms (calls that are native),
              ranks (the operands' ranks that are native, by trial), dtypes, lanes, exactness (rule, domain), diagnostics (codes) and
              seed_rules (id and code of the rules of rextio-tensorflow 0.1.3 that it covers)
fallback      rextio-tensorflow's rule for what is not supported
diagnostics   code, outcome, text and suggestion of every diagnostic
"""

import functools
import itertools
from typing import Any

MAX_RANK = 6

_FALLBACK = {"id": "rextio-tensorflow/unsupported-tensor-surface", "code": "RXTP-TENSORFLOW-010", "outcome": "fallback"}


@functools.cache
def manifest() -> dict[str, Any]:
    """The manifest as plain data that json can write; the same object each time."""
    from natif import _compiler
    from natif._version import __version__

    rules = [_rule(op) for op in _compiler.registry() if op["spellings"]]
    fields = ("code", "outcome", "text", "suggestion")
    diagnostics = [{name: diagnostic[name] for name in fields} for diagnostic in _compiler.diagnostics()]
    return {"natif": __version__, "rules": rules, "fallback": dict(_FALLBACK), "diagnostics": diagnostics}


def _rule(op: dict[str, Any]) -> dict[str, Any]:
    return {
        "rule": op["rule"],
        "op": op["node"],
        "summary": op["summary"],
        "spellings": list(op["spellings"]),
        "operator": op["operator"],
        "forms": list(op["examples"]),
        "ranks": _native_ranks(op),
        "dtypes": ["float32"],
        "lanes": ["tfe"] if op["kernel"] == "none" else ["fused", "tfe"],
        "exactness": {"rule": op["exactness_rule"], "domain": op["exactness_domain"]},
        "diagnostics": list(op["diagnostics"]),
        "seed_rules": [{"id": rule, "code": code} for rule, code in op["seed_rules"]],
    }


def _native_ranks(op: dict[str, Any]) -> list[list[int]]:
    """The ranks of operands with which a plain call is claimed: every combination is tried."""
    import ast

    from natif import _compiler

    operands = [parameter for parameter in op["parameters"] if parameter["kind"] == "operand" and parameter["required"]]
    names = [f"a{index}" for index in range(len(operands))]
    combinations = list(itertools.product(range(MAX_RANK + 1), repeat=len(operands)))
    lines = ["import tensorflow as tf", "from natif.types import *"]
    for ranks in combinations:
        parameters = ", ".join(f"{name}: TensorF32Cpu{rank}D" for name, rank in zip(names, ranks, strict=True))
        lines.append(f"def f({parameters}): return {op['spellings'][0]}({', '.join(names)})")
    claims = _compiler.claim_module(ast.parse("\n".join(lines)), "<capabilities>", "capabilities")
    return [list(ranks) for ranks, claim in zip(combinations, claims, strict=True) if claim["native"]]
