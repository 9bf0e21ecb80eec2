"""Makes `.venv` at the root and puts natif into it, built from the tree. Each step is stamped with the content that it depends on, so a
second run does only what changed: nothing, or an incremental build. Standard library only; run by scripts/setup.sh.

Usage: python scripts/setup.py demo|test|bench
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
BUILD = ROOT / "build" / "dev"
PYTHON = VENV / "bin" / "python"
PIP = [str(PYTHON), "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
EXTRAS = {"demo": ["tensorflow", "demo"], "test": ["tensorflow", "demo", "test"], "bench": ["tensorflow", "demo"]}
OLDEST_CMAKE = (3, 25)


def run(*command: str | Path) -> None:
    """Runs a command; its failure ends the set-up."""
    if subprocess.run([str(word) for word in command], cwd=ROOT).returncode:
        sys.exit(f"natif: set-up failed at: {' '.join(str(word) for word in command)}")


def done(name: str, content: list[str]) -> bool:
    """Whether the step `name` has been done for this content."""
    stamp = VENV / f".natif-{name}"
    return stamp.exists() and stamp.read_text() == digest(content)


def mark_done(name: str, content: list[str]) -> None:
    (VENV / f".natif-{name}").write_text(digest(content))


def digest(content: list[str]) -> str:
    return hashlib.sha256("\0".join(content).encode()).hexdigest()


def build_tools() -> list[str]:
    """CMake and ninja from PyPI, where the system has none or too old a one."""
    tools = []
    outside = os.pathsep.join(folder for folder in os.environ["PATH"].split(os.pathsep) if Path(folder) != VENV / "bin")
    cmake = shutil.which("cmake", path=outside)
    said = subprocess.run([cmake, "--version"], capture_output=True, text=True).stdout if cmake else ""
    version = re.search(r"(\d+)\.(\d+)", said)
    if version is None or (int(version[1]), int(version[2])) < OLDEST_CMAKE:
        tools.append("cmake")
    if shutil.which("ninja", path=outside) is None:
        tools.append("ninja")
    return tools


def make_environment(project: dict[str, Any], level: str) -> None:
    """.venv with the build tools and the dependencies of the level; one made for a richer level serves the poorer ones too."""
    common = [*project["build-system"]["requires"], *build_tools()]
    optional = project["project"]["optional-dependencies"]
    packages = {name: sorted([*common, *(package for extra in extras for package in optional[extra])]) for name, extras in EXTRAS.items()}
    if any(done("packages", packages[name]) for name in EXTRAS if set(packages[level]) <= set(packages[name])):
        return
    if not PYTHON.exists():
        run(sys.executable, "-m", "venv", VENV)
    print(f"natif: installing into .venv: {', '.join(packages[level])}", flush=True)
    run(*PIP, *packages[level])
    mark_done("packages", packages[level])


def install_natif() -> None:
    """natif in .venv as an editable install: the Python sources are read from the tree, the extension modules and headers are built."""
    files = ["pyproject.toml", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "python").rglob("*.py"))]
    content = [str(ROOT), (ROOT / "pyproject.toml").read_text(), (ROOT / "python/natif/_version.py").read_text(), *files]
    if not done("install", content) or not (BUILD / "CMakeCache.txt").exists():
        print("natif: building the extension modules", flush=True)
        run(*PIP, "--no-deps", "--no-build-isolation", "--editable", ROOT)
        mark_done("install", content)
        return
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    run("cmake", "--build", BUILD, "--parallel")
    run("cmake", "--install", BUILD, "--prefix", VENV / "lib" / version / "site-packages")


def main(level: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (ROOT / "build").mkdir(exist_ok=True)
    with (ROOT / "build" / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        make_environment(project, level)
        os.environ["PATH"] = f"{VENV / 'bin'}{os.pathsep}{os.environ['PATH']}"
        install_natif()


if __name__ == "__main__":
    main(sys.argv[1])
