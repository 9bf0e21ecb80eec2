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

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
BUILD = ROOT / "build" / "dev"
PYTHON = VENV / "bin" / "python"
EXTRAS = {"demo": ["tensorflow", "demo"], "test": ["tensorflow", "demo", "test"], "bench": ["tensorflow", "demo", "test"]}
OLDEST_CMAKE = (3, 25)


def run(*command: str | Path) -> None:
    """Runs a command; its failure ends the set-up with that command's exit code."""
    result = subprocess.run([str(word) for word in command], cwd=ROOT)
    if result.returncode:
        sys.exit(f"natif: set-up failed at: {' '.join(str(word) for word in command)}")


def stamped(name: str, *content: str) -> tuple[Path, str] | None:
    """The stamp to write once the step `name` is done, or None where it is done already for this content."""
    digest = hashlib.sha256("\0".join(content).encode()).hexdigest()
    stamp = VENV / f".natif-{name}"
    return None if stamp.exists() and stamp.read_text() == digest else (stamp, digest)


def cmake_is_usable() -> bool:
    cmake = shutil.which("cmake")
    if cmake is None:
        return False
    version = re.search(r"(\d+)\.(\d+)", subprocess.run([cmake, "--version"], capture_output=True, text=True).stdout)
    return version is not None and (int(version[1]), int(version[2])) >= OLDEST_CMAKE


def make_environment(project: dict, level: str) -> None:
    """.venv with the build tools and the dependencies of the level. A richer environment serves the poorer levels too."""
    if not PYTHON.exists():
        run(sys.executable, "-m", "venv", VENV)
    extras = project["project"]["optional-dependencies"]
    packages = [*project["build-system"]["requires"], *(package for extra in EXTRAS[level] for package in extras[extra])]
    if not cmake_is_usable():
        packages.append("cmake>=3.25")
    if shutil.which("ninja") is None:
        packages.append("ninja")
    for other in EXTRAS:
        if set(EXTRAS[level]) <= set(EXTRAS[other]) and stamped(f"packages-{other}", *level_packages(project, other)) is None:
            return
    run(PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    step = stamped(f"packages-{level}", *level_packages(project, level))
    if step:
        step[0].write_text(step[1])


def level_packages(project: dict, level: str) -> list[str]:
    extras = project["project"]["optional-dependencies"]
    return [*project["build-system"]["requires"], *(package for extra in EXTRAS[level] for package in extras[extra])]


def install_natif(pyproject: str) -> None:
    """natif in .venv as an editable install: the Python sources are read from the tree, the extension modules and headers are built."""
    modules = sorted(str(path) for path in (ROOT / "python").rglob("*.py"))
    step = stamped("install", pyproject, str(ROOT), *modules)
    if step or not (BUILD / "CMakeCache.txt").exists():
        run(PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--editable", ROOT)
        if step:
            step[0].write_text(step[1])
    else:
        site = subprocess.run([PYTHON, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))"], capture_output=True, text=True)
        run("cmake", "--build", BUILD, "--parallel")
        run("cmake", "--install", BUILD, "--prefix", site.stdout.strip())


def main(level: str) -> None:
    os.environ["PATH"] = f"{VENV / 'bin'}{os.pathsep}{os.environ['PATH']}"
    pyproject = (ROOT / "pyproject.toml").read_text()
    (ROOT / "build").mkdir(exist_ok=True)
    with (ROOT / "build" / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        make_environment(tomllib.loads(pyproject), level)
        install_natif(pyproject)


if __name__ == "__main__":
    main(sys.argv[1])
