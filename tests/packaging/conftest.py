"""One build of the sample project and one fresh environment with its wheel, shared by the tests of shipped packages.

The environment has nothing of its own but the wheel; TensorFlow and natif come from the one that the tests run in, by a .pth file.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest
from sample import SHOP

from natif.packaging import BuildResult, build


@dataclass(frozen=True)
class Installed:
    """The fresh environment: its interpreter and where the package is."""

    python: Path
    site: Path

    @property
    def shop(self) -> Path:
        return self.site / "shop"


@pytest.fixture(scope="session")
def built(tmp_path_factory) -> BuildResult:
    """The sample project, built for any processor."""
    sources = tmp_path_factory.mktemp("sources") / "shop"
    shutil.copytree(SHOP, sources, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache", "dist"))
    return build(sources, out=tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="session")
def installed(built, tmp_path_factory) -> Installed:
    """A fresh virtual environment into which pip installed the wheel, its requirements met by what is there."""
    folder = tmp_path_factory.mktemp("fresh") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    site = folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    (site / "base.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python, "install", "--no-index", "--quiet", built.wheel]
    subprocess.run(pip, check=True)
    return Installed(python, site)


@pytest.fixture
def run(installed, tmp_path):
    """Runs Python code in the fresh environment and returns the finished process. Keywords are environment variables."""

    def run_code(code, *arguments, path=(), **variables):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("NATIF_") and name != "PYTHONPATH"}
        environment |= {"PYTHONPATH": os.pathsep.join(map(str, path))} if path else {}
        command = [installed.python, "-c", code, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment | variables, timeout=200, check=False)

    return run_code


@pytest.fixture
def copy(installed, tmp_path):
    """A copy of the installed package, to damage; its parent folder goes on the path."""
    target = tmp_path / "copy" / "shop"
    shutil.copytree(installed.shop, target, ignore=shutil.ignore_patterns("__pycache__"))
    return target
