"""The host in docs/abi.md is a program: it is taken from the page, compiled as C, and calls an artifact without Python or TensorFlow."""

import importlib.util
import subprocess
from pathlib import Path

import natif
from natif import toolchain

PAGE = Path(__file__).parent.parent / "docs" / "abi.md"
MODULE = """
from natif.types import TensorF32Cpu1D

def affine(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return x * 2.0 + 1.0
"""


def test_the_host_in_c_calls_an_artifact(tmp_path: Path):
    source = tmp_path / "affine_module.py"
    source.write_text(MODULE)
    spec = importlib.util.spec_from_file_location("affine_module", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function = natif.compile(module.affine, lane="fused", require=True)
    artifact = toolchain.compile_shared(function.source("cpp"), stem="affine", folder=tmp_path)
    program = PAGE.read_text().split("```c\n")[1].split("```")[0]
    (tmp_path / "host.c").write_text(program)
    flags = ["-std=c11", "-D_DEFAULT_SOURCE", "-Wall", "-Wextra", "-Werror", f"-I{toolchain.include_folder()}"]
    subprocess.run(["gcc", *flags, "host.c", "-ldl", "-o", "host"], cwd=tmp_path, check=True)
    done = subprocess.run(["./host", str(artifact)], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "affine: 2 -1 7\n"
