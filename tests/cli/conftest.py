"""The command line in this process, and small projects to run it on."""

import subprocess
import sys
import textwrap

import pytest

from natif import cli

SCORING = """
    import natif
    import tensorflow as tf
    from natif.types import TensorF32Cpu2D

    @natif.native
    def doubled(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
        "Twice x."
        return tf.nn.relu(x) + x

    @natif.native(require=True)
    def shown(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
        print("é", x)
        return x

    def plain(x):
        return x
"""


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory):
    """A cache of these tests' own."""
    folder = tmp_path_factory.mktemp("cache") / "natif"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NATIF_CACHE_DIR", str(folder))
        yield folder


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty current folder, and no configuration from the environment."""
    for name in ("NATIF_TARGET", "NATIF_NUMERICS", "NATIF_LANE", "NATIF_JOBS", "NATIF_OUT", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def write(folder):
    """Writes a file of the project, dedented."""

    def write_file(name, text):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
        return file

    return write_file


@pytest.fixture
def package(write):
    """A package with a native function, one that has to be native and stays Python, and a plain one."""
    write("pyproject.toml", '[project]\nname = "small"\nversion = "1.0"\n[tool.natif]\npaths = ["small"]\n')
    write("small/__init__.py", "")
    return write("small/scoring.py", SCORING)


@pytest.fixture
def natif(capsys):
    """Runs a command line and returns its exit code, its output and its error output."""

    def run(*arguments):
        try:
            code = cli.main([str(argument) for argument in arguments])
        except SystemExit as stopped:
            code = stopped.code
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture
def natif_process(folder):
    """Runs a command line in a process of its own."""

    def run(*arguments, **options):
        command = [sys.executable, "-m", "natif", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=200, check=False, **options)

    return run
