"""The rules of the machine classes other than this process's, each in a process of its own: TensorFlow and oneDNN read their settings once.

A CPU without the dot-product extensions has oneDNN off (`TF_ENABLE_ONEDNN_OPTS=0` shows that class anywhere); one without AVX-512 has
oneDNN's AVX2 kernels (`ONEDNN_MAX_CPU_ISA=AVX2`).
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SETTINGS = ["TF_ENABLE_ONEDNN_OPTS", "ONEDNN_MAX_CPU_ISA"]

CLASSES = {
    "oneDNN off": ({"TF_ENABLE_ONEDNN_OPTS": "0"}, ["test_products.py", "test_kernels.py", "test_softmaxes.py", "test_reductions.py"]),
    "oneDNN on, AVX2": ({"TF_ENABLE_ONEDNN_OPTS": "1", "ONEDNN_MAX_CPU_ISA": "AVX2"}, ["test_products.py", "test_kernels.py"]),
    "oneDNN off, AVX2": ({"TF_ENABLE_ONEDNN_OPTS": "0", "ONEDNN_MAX_CPU_ISA": "AVX2"}, ["test_products.py", "test_kernels.py"]),
}


@pytest.mark.timeout(900)  # three processes that load TensorFlow, on a machine that may be busy
@pytest.mark.parametrize("name", list(CLASSES))
def test_class(name: str) -> None:
    settings, files = CLASSES[name]
    environment = {key: value for key, value in os.environ.items() if key not in SETTINGS} | settings
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(str(HERE / file) for file in files)]
    result = subprocess.run(command, env=environment, cwd=HERE.parent.parent, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{name}\n{result.stdout[-4000:]}"
