"""Claims are pure and deterministic, and lowering derives them again."""

import ast
import copy
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from claiming import HEAD, claims

from natif import CompileError, _compiler

PROGRAM = HEAD + (
    "AXIS = 1\n"
    "@natif.native\n"
    "def f(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu1D:\n"
    "    for i in range(n):\n"
    "        x = tf.nn.relu(x) + i\n"
    "    return tf.reduce_sum(x, AXIS)\n"
    "def g(x: TensorF32Cpu2D) -> TensorF32Cpu2D:\n"
    "    return tf.cos(x)\n"
)


def compiled(claim, program=PROGRAM, lane="auto", numerics="exact"):
    return _compiler.compile_module(ast.parse(program), "program.py", "program", [(claim, claim["name"], lane, numerics)], ["native"])


def test_facts():
    f, g = claims(PROGRAM)
    assert (f["name"], f["first_line"], f["line"], f["decorated"], f["marked"], f["native"]) == ("f", 5, 6, True, True, True)
    assert f["guards"] == [("AXIS", False, 1)]
    assert [site["target"] for site in f["sites"]] == ["range", "tf.nn.relu", "+", "tf.reduce_sum"]
    assert (g["decorated"], g["native"], g["ir"]) == (False, False, "")


def test_a_confirmed_claim_is_compiled():
    plan = compiled(claims(PROGRAM)[0])
    (name, level, text), *more = plan.files
    assert (name, level, more) == ("module.cpp", "native", [])
    assert "natif_module" in text
    (function,) = plan.functions
    assert function["ir"] == claims(PROGRAM)[0]["ir"]
    assert {site for site, _, _, _ in function["sites"]} == {1, 2, 3}


@pytest.mark.parametrize(
    ("fact", "value"),
    [("native", False), ("ir", "func f() -> int {\n}\n"), ("guards", []), ("sites", []), ("end_line", 99), ("decorated", False)],
)
def test_a_claim_that_was_tampered_with_is_refused(fact, value):
    claim = copy.deepcopy(claims(PROGRAM)[0])
    claim[fact] = value
    with pytest.raises(ValueError, match=rf"natif: the claim of f is not what its source gives: its {fact} differs"):
        compiled(claim)


def test_a_site_that_was_tampered_with_is_refused():
    claim = copy.deepcopy(claims(PROGRAM)[0])
    claim["sites"][1]["rule"] = "natif/Tanh"
    with pytest.raises(ValueError, match="its sites differs"):
        compiled(claim)


def test_a_claim_with_more_or_other_facts_is_refused():
    claim = claims(PROGRAM)[0]
    with pytest.raises(ValueError, match="facts that no claim has"):
        compiled({**claim, "trusted": True})
    with pytest.raises(ValueError, match="its source does not have"):
        compiled({**claim, "first_line": 77})
    with pytest.raises(ValueError, match="its sites differs"):
        compiled(claim, PROGRAM.replace("relu", "tanh"))


def test_a_function_that_stays_python_is_not_lowered():
    with pytest.raises(CompileError, match="natif: g is not native"):
        compiled(claims(PROGRAM)[1])


def test_unknown_options_are_refused():
    with pytest.raises(CompileError, match="the lane is"):
        compiled(claims(PROGRAM)[0], lane="quick")
    with pytest.raises(CompileError, match="numerics is"):
        compiled(claims(PROGRAM)[0], numerics="sloppy")


def test_every_run_and_hash_seed_gives_the_same_bytes():
    script = (
        "import ast, json, sys\nfrom natif import _compiler\n"
        "tree = ast.parse(sys.stdin.read())\n"
        "claims = _compiler.claim_module(tree, 'program.py', 'program')\n"
        "plan = _compiler.compile_module(tree, 'program.py', 'program', [(claims[0], 'f', 'auto', 'exact')], ['native'])\n"
        "print(json.dumps([claims, plan.files, plan.functions]))\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            input=PROGRAM,
            text=True,
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1", "12345")
    }
    assert len(outputs) == 1
    assert json.loads(outputs.pop())[0] == json.loads(json.dumps(claims(PROGRAM)))


def test_claiming_imports_nothing(tmp_path: Path):
    (tmp_path / "poison.py").write_text("raise SystemExit('imported')\n")
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "import ast\nfrom natif import _compiler\n"
        "source = 'import poison\\nfrom natif.types import *\\ndef f(x: TensorF32Cpu2D) -> TensorF32Cpu2D: return poison.f(x)'\n"
        "claims = _compiler.claim_module(ast.parse(source), 'f.py', 'f')\n"
        "assert claims[0]['sites'][0]['target'] == 'poison.f'\n"
        "assert not {'poison', 'tensorflow', 'numpy'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_claim_for_certain_sizes():
    program = HEAD + "def f(x: TensorF32Cpu2D, w: TensorF32Cpu2D):\n    return x @ w\n"
    tree, line = ast.parse(program), HEAD.count("\n") + 1
    sizes = ("f", line, {"w": [4, 3]})
    (f,) = _compiler.claim_module(tree, "program.py", "program", sizes)
    assert f["ir"].startswith("func f(%x.0: f32[?,?], bound %w.1: f32[4,3]) -> f32[?,3]")
    request = [(f, "f", "auto", "exact")]
    plan = _compiler.compile_module(tree, "program.py", "program", request, ["native"], specialized=sizes)
    assert plan.functions[0]["ir"] == f["ir"]
    with pytest.raises(ValueError, match="of f is not what its source gives"):
        _compiler.compile_module(tree, "program.py", "program", request, ["native"])
    with pytest.raises(CompileError, match=r"natif: f can't be specialised for w of the sizes f32\[4\]: it is annotated as f32\[\?,\?\]"):
        _compiler.claim_module(tree, "program.py", "program", ("f", line, {"w": [4]}))
    generic = _compiler.claim_module(tree, "program.py", "program")
    assert _compiler.claim_module(tree, "program.py", "program", ("f", line + 1, {"w": [4, 3]})) == generic
