"""The generated pages are up to date, and docs/adding-an-op.md shows the file that it speaks of."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_generated_pages_are_up_to_date():
    script = ROOT / "scripts" / "generate_docs.py"
    result = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_adding_an_op_shows_the_model():
    text = (ROOT / "docs" / "adding-an-op.md").read_text()
    model = (ROOT / "src" / "ops" / "square.cpp").read_text()
    assert model.split("\n", 1)[1].strip() in text
