"""AArch64 without such a machine: the kernels' tests, cross-compiled with the flags of emitted code and run under qemu-user; the digits
example's generated C++, built into an artifact that is opened there; and the runtime's sources, checked by the cross compiler.

Needs g++-aarch64-linux-gnu, qemu-user and libgtest-dev; installs them as root on Debian. Where they can't be had, it says so and ends
with 0.

Usage: .venv/bin/python scripts/aarch64.py
"""

import ast
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from natif import _compiler, toolchain

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "aarch64"
COMPILER = "aarch64-linux-gnu-g++"
EMULATOR = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]
GTEST = Path("/usr/src/googletest/googletest")
PACKAGES = {"g++-aarch64-linux-gnu": COMPILER, "qemu-user": EMULATOR[0], "libgtest-dev": str(GTEST / "src" / "gtest-all.cc")}

LOADER = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include "runtime/abi.h"

int main(int, char** arguments) {
  void* library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return fprintf(stderr, "%s\n", dlerror()), 1;
  const auto* module = static_cast<const natif_module*>(dlsym(library, "natif_module"));
  if (module == nullptr || module->abi_version != NATIF_ABI_VERSION || module->struct_size != sizeof(natif_module)) return 2;
  if (module->level_count != 1 || strcmp(module->levels[0], "aarch64") != 0) return 3;
  for (int i = 0; i < module->function_count; ++i) printf("%s ", module->functions[i].name);
  return 0;
}
"""


def missing() -> list[str]:
    return [package for package, file in PACKAGES.items() if not (shutil.which(file) or Path(file).exists())]


def prepared() -> bool:
    """Whether the tools are there; installs them where that is possible."""
    if missing() and os.geteuid() == 0 and Path("/etc/debian_version").exists():
        print("natif: installing from Debian:", *missing(), flush=True)
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-qq"], env=environment, stdout=subprocess.DEVNULL)
        install = ["apt-get", "install", "-qq", "-y", "--no-install-recommends", *missing()]
        subprocess.run(install, env=environment, stdout=subprocess.DEVNULL)
    return not missing()


def run(*command: str | Path) -> str:
    """What the command prints; SystemExit where it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=BUILD)
    if done.returncode:
        sys.exit(f"natif: {' '.join(map(str, command))} failed ({done.returncode}):\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def kernel_flags() -> list[str]:
    """The flags of emitted code, for a program instead of a shared object."""
    library_only = {"-shared", "-fPIC", "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden", "-static-libstdc++", "-static-libgcc"}
    return [flag for flag in toolchain.flags("aarch64") if flag not in library_only and not flag.startswith("-Wl,")]


def kernel_test(source: Path) -> str:
    """Builds a test program, if it is not there, and runs it; the line of its outcome."""
    program = BUILD / source.stem
    headers = max(path.stat().st_mtime for path in [source, *source.parent.glob("*.h")])
    if not program.exists() or program.stat().st_mtime < headers:
        run(COMPILER, *kernel_flags(), f"-I{ROOT}", f"-I{GTEST}/include", source, "gtest.o", "-o", program, "-static", "-lm")
    started = time.monotonic()
    said = run(*EMULATOR, program)
    passed = next(line for line in said.splitlines() if "PASSED" in line)
    return f"{source.name}: {passed.strip()} ({time.monotonic() - started:.0f} s)"


def artifact() -> str:
    """Builds the digits example's module and opens it; its functions."""
    file = ROOT / "examples" / "digits" / "model.py"
    tree = ast.parse(file.read_text(encoding="utf-8"))
    claims = [claim for claim in _compiler.claim_module(tree, "model.py", "model") if claim["native"]]
    requests = [(claim, claim["name"], "auto", "exact") for claim in claims]
    plan = _compiler.compile_module(tree, "model.py", "model", requests, ["aarch64"])
    for name, level, text in plan.files:
        assert level in ("", "aarch64"), name
        (BUILD / name).write_text(text, encoding="utf-8")
    sources = [name for name, _, _ in plan.files]
    include = f"-I{toolchain.include_folder()}"
    run(COMPILER, *toolchain.flags("aarch64"), include, *sources, "-o", "model.so", "-lm")
    (BUILD / "loader.cpp").write_text(LOADER, encoding="utf-8")
    run(COMPILER, "-std=c++20", include, "loader.cpp", "-o", "loader", "-ldl")
    functions = run(*EMULATOR, "loader", "./model.so").split()
    if sorted(functions) != sorted(claim["name"] for claim in claims):
        sys.exit(f"natif: the artifact has {functions}")
    return f"artifact of examples/digits: {', '.join(functions)}"


def runtime_source(source: Path) -> str:
    """Lets the cross compiler check a source of the runtime, with this Python's headers."""
    include = [f"-I{ROOT}", f"-I{ROOT / 'src'}", f"-I{sysconfig.get_path('include')}"]
    run(COMPILER, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers", "-fsyntax-only", *include, source)
    return source.name


def main() -> None:
    if not prepared():
        print(f"natif: SKIPPED, nothing was checked for AArch64: {', '.join(missing())} can't be had here (names of Debian's packages)")
        return
    BUILD.mkdir(parents=True, exist_ok=True)
    run(COMPILER, "-std=c++20", "-O1", f"-I{GTEST}/include", f"-I{GTEST}", "-c", GTEST / "src" / "gtest-all.cc", "-o", "gtest_all.o")
    run(COMPILER, "-std=c++20", "-O1", f"-I{GTEST}/include", "-c", GTEST / "src" / "gtest_main.cc", "-o", "gtest_main.o")
    run("aarch64-linux-gnu-ld", "-r", "gtest_all.o", "gtest_main.o", "-o", "gtest.o")
    print(artifact(), flush=True)
    runtime = [path for path in sorted((ROOT / "runtime").glob("*.cpp")) if not path.stem.endswith("_test")]
    with ThreadPoolExecutor(2) as pool:
        print(f"runtime: {len(list(pool.map(runtime_source, runtime)))} sources compile", flush=True)
        for line in pool.map(kernel_test, sorted((ROOT / "kernels").glob("*_test.cpp"))):
            print(line, flush=True)


if __name__ == "__main__":
    main()
