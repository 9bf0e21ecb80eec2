"""Makes the benchmark's own environment, build/bench-venv, and runs the suite in it: the contenders from PyPI at pinned versions, natif as
a wheel built from the tree as a user's would be, and rextio where cargo is there. Each step is stamped with the content that it depends on,
so a second run does only what changed. Standard library only; to be run by the Python of `.venv`, which scripts/setup.sh makes.

Usage: .venv/bin/python bench/environment.py [arguments of python -m bench]
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / "build" / "bench-venv"
WHEELS = ROOT / "build" / "bench-wheel"
PYTHON = VENV / "bin" / "python"
SOURCES = ("CMakeLists.txt", "pyproject.toml", "cmake", "kernels", "python", "runtime", "src")


def run(*command: str | Path) -> bool:
    """Runs a command in the root; whether it succeeded."""
    return subprocess.run([str(word) for word in command], cwd=ROOT).returncode == 0


def must(*command: str | Path) -> None:
    """Runs a command; its failure ends the set-up."""
    if not run(*command):
        sys.exit(f"natif: the benchmark's set-up failed at: {' '.join(str(word) for word in command)}")


def pip(*arguments: str | Path) -> list[str | Path]:
    return [PYTHON, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]


def source_files() -> list[Path]:
    """Everything that natif's wheel is built from."""
    roots = [ROOT / name for name in SOURCES]
    files = [path for root in roots for path in ([root] if root.is_file() else sorted(root.rglob("*")))]
    return [path for path in files if path.is_file() and "__pycache__" not in path.parts]


def digest(files: list[Path]) -> str:
    """The files' names and contents as one hash."""
    content = hashlib.sha256()
    for path in files:
        content.update(f"{path.relative_to(ROOT)}\0".encode())
        content.update(path.read_bytes())
    return content.hexdigest()


def changed(step: str, files: list[Path]) -> bool:
    """Whether the step's files differ from those that it was last done for."""
    stamp = VENV / f".natif-{step}"
    return not stamp.exists() or stamp.read_text() != digest(files)


def mark(step: str, files: list[Path]) -> None:
    (VENV / f".natif-{step}").write_text(digest(files))


def install_contenders() -> None:
    files = [ROOT / "bench" / "requirements.txt"]
    if changed("contenders", files):
        if not PYTHON.exists():
            must(sys.executable, "-m", "venv", VENV)
        must(*pip("install", "--requirement", files[0]))
        mark("contenders", files)


def install_rextio() -> None:
    """rextio where cargo is there; a failure is said, leaves the row "not available" in the results, and is tried again next time."""
    files = [ROOT / "bench" / "rextio-requirements.txt"]
    if shutil.which("cargo") is None:
        print("natif: no cargo here, so rextio takes no part", file=sys.stderr)
    elif changed("rextio", files):
        if run(*pip("install", "--no-deps", "--requirement", files[0])):
            mark("rextio", files)
        else:
            print("natif: rextio could not be installed, so it takes no part", file=sys.stderr)


def install_natif() -> None:
    """natif's wheel, built by the tools of `.venv` in a build folder that is kept, so that a change compiles only what it touches."""
    files = source_files()
    if changed("wheel", files):
        shutil.rmtree(WHEELS, ignore_errors=True)
        tools = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "wheel", "--no-deps", "--no-build-isolation"]
        must(*tools, f"--config-settings=build-dir={ROOT / 'build' / 'bench-build'}", "--wheel-dir", WHEELS, ROOT)
        must(*pip("install", "--no-deps", "--force-reinstall", *sorted(WHEELS.glob("*.whl"))))
        mark("wheel", files)


def main() -> None:
    VENV.parent.mkdir(exist_ok=True)
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with (VENV.parent / ".bench-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        install_contenders()
        install_rextio()
        install_natif()
    os.chdir(ROOT)
    os.execv(PYTHON, [str(PYTHON), "-m", "bench", *sys.argv[1:]])


if __name__ == "__main__":
    main()
