"""Tries natif's wheel with each TensorFlow that it knows, in an environment of its own (build/tf-VERSION), and records the outcomes in
ci/platform-contract.json. Exits with 1 where one fails. The downloads are large.

Usage: .venv/bin/python scripts/tf_versions.py [2.16 2.18 …]
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CONTRACT = ROOT / "ci" / "platform-contract.json"
VERSIONS = ("2.16", "2.17", "2.18", "2.19", "2.20", "2.21")
PIP = ["-m", "pip", "--quiet", "--disable-pip-version-check"]


def built_wheel() -> Path:
    """natif's wheel, as users get it. Its build folder is kept, so that a second run compiles what changed."""
    folder = ROOT / "build" / "wheel"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("natif-*.whl"):
        old.unlink()
    options = ["--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), "--config-settings=build-dir=build/wheel/tree"]
    subprocess.run([sys.executable, *PIP, "wheel", *options, str(ROOT)], check=True, cwd=ROOT)
    return next(folder.glob("natif-*.whl"))


def environment(version: str, wheel: Path) -> Path:
    """The Python of an environment with this TensorFlow and the wheel."""
    folder = ROOT / "build" / f"tf-{version}"
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    subprocess.run([str(python), *PIP, "install", f"tensorflow-cpu=={version}.*"], check=True)
    subprocess.run([str(python), *PIP, "install", "--no-deps", "--force-reinstall", str(wheel)], check=True)
    return python


def bridge(python: Path) -> str:
    """The library with the bridge to Python, below the package: the one that has EagerTensor_CheckExact."""
    packages = next((python.parent.parent / "lib").glob("python3.*")) / "site-packages" / "tensorflow" / "python"
    images = ("_pywrap_tensorflow_internal.so", "lib_pywrap_tensorflow_common.so")
    found = [
        name for name in images if (packages / name).exists() and b"_Z22EagerTensor_CheckExactPK7_object\0" in symbols(packages / name)
    ]
    return "python/" + (found[0] if len(found) == 1 else "?")


def symbols(image: Path) -> bytes:
    """The names that an image defines for others, without their versions."""
    listed = subprocess.run(["nm", "-D", "--defined-only", str(image)], capture_output=True, check=True).stdout
    return b"".join(line.split()[-1].partition(b"@")[0] + b"\0" for line in listed.splitlines())


def tried(version: str, wheel: Path) -> dict[str, Any]:
    """The record of one version."""
    python = environment(version, wheel)
    # -P and another folder: the natif that is imported is the wheel's, not the tree's.
    done = subprocess.run([str(python), "-P", str(ROOT / "scripts" / "tf_smoke.py")], capture_output=True, text=True, cwd=python.parent)
    if done.returncode:
        print(done.stderr[-4000:], file=sys.stderr)
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        return {"version": version, "bridge": bridge(python), "outcome": f"failed: {last}"}
    return {"bridge": bridge(python), "outcome": "passed", **json.loads(done.stdout.splitlines()[-1])}


def main(versions: list[str]) -> int:
    wheel = built_wheel()
    failed = False
    for version in versions:
        record = tried(version, wheel)
        print(f"TensorFlow {version}: {record}", flush=True)
        failed = failed or record["outcome"] != "passed"
        contract = json.loads(CONTRACT.read_text(encoding="utf-8"))
        contract["tensorflow"] = dict(sorted({**contract["tensorflow"], version: record}.items()))
        CONTRACT.write_text(json.dumps(contract, indent=2) + "\n", encoding="utf-8")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(VERSIONS)))
