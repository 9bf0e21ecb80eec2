"""Every CPU rule of rextio-tensorflow 0.1.3 and 0.1.0 that is about an op is covered by one."""

from __future__ import annotations

from op_examples import registry

RULES = {
    "001": "matmul-f32-cpu-2d",
    "002": "relu-f32-cpu-2d",
    "003": "add-call-f32-cpu",
    "004": "reduce-mean-axis1-f32-cpu-2d",
    "005": "sigmoid-f32-cpu-2d",
    "006": "add-binop-f32-cpu",
    "007": "softmax-axis1-f32-cpu-2d",
    "008": "argmax-axis1-i64-cpu-2d",
    "009": "tanh-f32-cpu-2d",
    "011": "reduce-sum-axis1-f32-cpu-2d",
    "012": "mul-binop-f32-cpu",
    "013": "mul-call-f32-cpu",
    "014": "sub-call-f32-cpu",
    "015": "sub-binop-f32-cpu",
    "016": "div-call-f32-cpu",
    "017": "div-binop-f32-cpu",
    "018": "relu-f32-cpu-1d",
    "019": "sigmoid-f32-cpu-1d",
    "020": "tanh-f32-cpu-1d",
    "021": "bias-add-nhwc-f32-cpu-2d",
    "022": "reduce-mean-literal-axis-f32-cpu-2d",
    "023": "reduce-sum-literal-axis-f32-cpu-2d",
    "024": "argmax-axis0-i64-cpu-2d",
    "025": "softmax-axis0-f32-cpu-1d",
    "026": "abs-f32-cpu",
    "027": "negative-f32-cpu",
    "028": "square-f32-cpu",
    "029": "exp-f32-cpu",
    "030": "log-f32-cpu",
    "031": "sqrt-f32-cpu",
    "032": "maximum-call-f32-cpu",
    "033": "minimum-call-f32-cpu",
    "039": "transpose-f32-cpu-2d",
}


def test_all_are_covered() -> None:
    covered = {(rule, code) for op in registry() for rule, code in op["seed_rules"]}
    assert covered == {(f"rextio-tensorflow/{rule}", f"RXTP-TENSORFLOW-{code}") for code, rule in RULES.items()}
