"""The digits example: the demo itself, end to end, and that it would notice a wrong bit, a missing batch or a function left in Python."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

EXAMPLE = Path(__file__).parent.parent / "examples" / "digits"


@pytest.fixture(scope="module")
def run():
    """The example's run.py as a module; what it put on the import path and among the modules is taken back afterwards."""
    before = set(sys.modules)
    sys.path.insert(0, str(EXAMPLE))
    import run

    yield run
    sys.path.remove(str(EXAMPLE))
    for name in {"run", "model", "training"} - before:
        sys.modules.pop(name, None)


def test_the_demo_runs_and_every_bit_is_eagers(tmp_path):
    done = subprocess.run([sys.executable, EXAMPLE / "run.py"], capture_output=True, text=True, cwd=tmp_path, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    accuracy = float(re.search(r"accuracy: ([\d.]+)%", done.stdout)[1])
    assert 95 < accuracy < 100
    rows = re.findall(r"^\s*([\d,]+)\s+1,797 of 1,797\s+([\d.]+)\s+([\d.]+)\s+\d+x$", done.stdout, re.MULTILINE)
    assert [row[0] for row in rows] == ["1", "16", "128", "1,797"]
    assert all(float(eager) > 0 and float(native) > 0 for _, eager, native in rows)


def test_one_bit_dtype_or_shape_is_a_difference(run):
    values = np.array([[0.1, 0.9], [0.0, 1.0]], np.float32)
    changed = values.copy()
    changed.view(np.int32)[1, 0] ^= 1
    assert run.same_bits(tf.constant(values), tf.constant(values))
    assert not run.same_bits(tf.constant(values), tf.constant(changed))
    assert not run.same_bits(tf.constant(values), tf.constant(values.reshape(4, 1)))
    assert not run.same_bits(tf.constant(values), tf.constant(values.view(np.int32)))
    assert not run.same_bits(tf.constant([0.0]), tf.constant([-0.0]))


@pytest.mark.parametrize("size", [1, 16, 128, 1797])
def test_the_batches_cover_every_image_once(run, size):
    images = tf.reshape(tf.range(1797.0), [1797, 1])
    assert tf.reduce_all(tf.concat(run.batches(images, size), axis=0) == images)


def test_a_wrong_result_makes_the_demo_fail(run, monkeypatch, capsys):
    def nearly(*arguments, **parameters):
        result = run.probabilities.python(*arguments, **parameters)
        return tf.bitcast(tf.bitcast(result, tf.int32) ^ 1, tf.float32)

    nearly.python, nearly.is_native, nearly.report = run.probabilities.python, True, ""
    monkeypatch.setattr(run, "probabilities", nearly)
    monkeypatch.setattr(run, "BATCHES", (1797,))
    assert run.main() == 1
    assert "0 of 1,797" in capsys.readouterr().out


def test_a_function_left_in_python_makes_the_demo_fail(run, monkeypatch, capsys):
    body = run.score.python

    def left(*arguments, **parameters):
        return body(*arguments, **parameters)

    left.is_native, left.report = False, "because"
    monkeypatch.setattr(run, "score", left)
    assert run.main() == 1
    assert "is not native:\nbecause" in capsys.readouterr().out
