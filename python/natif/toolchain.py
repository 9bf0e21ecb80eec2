"""The system's C++ compiler: found, probed once, and run on generated source to make a shared object.

The flags decide the bits of the results, so there is one list of them, `flags()`. Contraction is off (eager rounds a product before it
adds); floating-point traps keep their default; `expf` and `logf` are called in the C library, as TensorFlow does, never folded or replaced;
and the object links neither the C++ library nor Python. The same source, compiler and target give the same object, byte for byte.

Environment: NATIF_CXX (the compiler; nothing else is tried where it is set), CXX, NATIF_KEEP=1 (the source is kept with the object, and the
object has symbols that refer to it).
"""

import contextlib
import os
import re
import threading
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from natif import platforms
from natif.errors import CompileError

if TYPE_CHECKING:
    from concurrent.futures import Executor

COMPILE_TIMEOUT = 120.0
"""Seconds after which a compiler is taken to hang and is killed with all that it started."""

_time_limit: ContextVar[float | None] = ContextVar("natif_time_limit", default=None)


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Takes a compiler that this thread starts inside to hang after so many seconds already."""
    token = _time_limit.set(seconds)
    try:
        yield
    finally:
        _time_limit.reset(token)


TARGETS = {"native": "native", "x86-64-v2": "x86-64-v2", "x86-64-v3": "x86-64-v3", "x86-64-v4": "x86-64-v4", "aarch64": "armv8-a"}
"""What a target is for -march. `native` is this machine's processor."""

_OLDEST = {"gcc": 11, "clang": 14}
_ELF_FLAGS = ["-static-libstdc++", "-static-libgcc", "-Wl,--build-id=none", "-Wl,--as-needed"]


class Compiler(NamedTuple):
    """A compiler that answered: the command's words, gcc or clang, what `--version` says first, and the machine that it compiles for."""

    command: tuple[str, ...]
    kind: str
    version: str
    machine: str


class Unit(NamedTuple):
    """One generated file of an artifact: its name, the target that it is compiled for, and its text."""

    name: str
    target: str
    text: str


def find_compiler() -> Compiler:
    """The first usable compiler of NATIF_CXX, CXX, c++, g++ and clang++; CompileError where none is, and on platforms that natif has no
    code for.
    """
    platforms.current()
    chosen = os.environ.get("NATIF_CXX")
    candidates = [chosen] if chosen else [os.environ.get("CXX"), "c++", "g++", "clang++"]
    refusals = []
    for candidate in filter(None, candidates):
        command = resolve(candidate)
        if command is None:
            refusals.append(f"{candidate}: not found")
            continue
        compiler = _probed(command)
        if isinstance(compiler, Compiler):
            return compiler
        refusals.append(f"{candidate}: {compiler}")
    name = "NATIF_CXX names no usable C++ compiler" if chosen else "no C++ compiler was found"
    raise CompileError(f"natif: {name} ({'; '.join(refusals)}); install g++ (Debian: apt install g++) or set NATIF_CXX")


def resolve(command: str) -> tuple[str, ...] | None:
    """The words of a compiler command, the first as the path of a program that exists; None where there is none."""
    import shlex

    try:
        words = shlex.split(command)
    except ValueError:  # a quotation without an end
        words = []
    if not words:
        return None
    folders = [""] if os.sep in words[0] else os.get_exec_path()
    for folder in folders:
        path = os.path.abspath(os.path.join(folder, words[0]))  # noqa: PTH100, PTH118
        if os.access(path, os.X_OK) and not os.path.isdir(path):  # noqa: PTH112
            return (path, *words[1:])
    return None


def identity(command: tuple[str, ...]) -> str:
    """What tells, without starting it, whether a compiler is the one that was probed: the command, and the program's size and time."""
    state = os.stat(command[0])  # noqa: PTH116
    return f"{' '.join(command)}|{state.st_size}|{state.st_mtime_ns}"


_probes: dict[str, Compiler | str] = {}


def remember(key: str, compiler: Compiler) -> None:
    """Takes over what an earlier process learned of the compiler with this identity()."""
    _probes.setdefault(key, compiler)


def _probed(command: tuple[str, ...]) -> Compiler | str:
    key = identity(command)
    if key not in _probes:
        _probes[key] = _probe(command)
    return _probes[key]


def _probe(command: tuple[str, ...]) -> Compiler | str:
    """The compiler, or the reason why this command is none that natif can use."""
    status, version = _run([*command, "--version"], Path("/"), timeout=10.0)
    if status != 0 or not version.strip():
        return "it doesn't answer --version"
    status, macros = _run([*command, "-std=c++20", "-x", "c++", "-dM", "-E", os.devnull], Path("/"), timeout=10.0)
    defined = dict(line.split(" ", 2)[1:] for line in macros.splitlines() if line.startswith("#define ") and line.count(" ") >= 2)
    kind = "clang" if "__clang_major__" in defined else "gcc"
    major = defined.get("__clang_major__") or defined.get("__GNUC__")
    if status != 0 or major is None:
        return "it compiles no C++20"
    if int(major) < _OLDEST[kind]:
        return f"{kind} {major} is too old, natif needs {_OLDEST[kind]} or later"
    machine = next((name for name in ("x86_64", "aarch64") if f"__{name}__" in defined), "unknown")
    return Compiler(command, kind, version.splitlines()[0].strip(), machine)


def include_folder() -> Path:
    """The folder with `kernels/` and `runtime/abi.h`, for -I. RuntimeError where the installation lacks it."""
    import natif

    for folder in natif.__path__:
        candidate = Path(folder) / "include"
        if (candidate / "runtime" / "abi.h").is_file():
            return candidate
    raise RuntimeError("natif: the installation has no include folder; install natif again")


def cpu_flags() -> tuple[str, ...]:
    """The names of this processor's features, as the kernel lists them for the first one; empty where it doesn't."""
    return _processor()[1]


def cpu_identity() -> str:
    """What `-march=native` depends on, as text: the processor's vendor, family, model and features."""
    return "\n".join(_processor()[0])


_processor_found: tuple[tuple[str, ...], tuple[str, ...]] | None = None


def _processor() -> tuple[tuple[str, ...], tuple[str, ...]]:
    global _processor_found
    if _processor_found is None:
        lines: list[str] = []
        flags: tuple[str, ...] = ()
        try:
            with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as info:  # noqa: PTH123
                for line in info:
                    name, _, value = (part.strip() for part in line.partition(":"))
                    if not name and lines:
                        break
                    if name in ("vendor_id", "cpu family", "model", "stepping", "CPU implementer", "CPU part", "CPU variant"):
                        lines.append(f"{name}: {value}")
                    if name in ("flags", "Features"):
                        flags = tuple(value.split())
                        lines.append(f"flags: {value}")
        except OSError:
            import platform

            lines = [platform.machine(), platform.processor()]
        _processor_found = (tuple(lines), flags)
    return _processor_found


def kept() -> bool:
    """Whether NATIF_KEEP asks for sources and symbols."""
    return os.environ.get("NATIF_KEEP") == "1"


def flags(target: str) -> list[str]:
    """The compiler's flags for a target, without the include folder. ValueError where the target is unknown."""
    if target not in TARGETS:
        raise ValueError(f"natif: unknown target {target!r}; natif has {', '.join(TARGETS)}")
    wide = target == "x86-64-v4" or (target == "native" and "avx512f" in cpu_flags())
    return [
        "-std=c++20",
        "-O3",
        f"-march={TARGETS[target]}",
        *(["-mprefer-vector-width=512"] if wide else []),
        "-ffp-contract=off",
        "-fno-math-errno",
        "-fno-builtin-expf",
        "-fno-builtin-logf",
        "-fno-exceptions",
        "-fno-rtti",
        "-fvisibility=hidden",
        "-fPIC",
        "-shared",
        *(_ELF_FLAGS if os.uname().sysname == "Linux" else []),
        *(["-g"] if kept() else ["-g0", "-Wl,-s" if os.uname().sysname == "Linux" else "-Wl,-x"]),
    ]


def compile_shared(
    source: str, *, stem: str, target: str = "native", extra_flags: tuple[str, ...] = (), folder: Path | None = None
) -> Path:
    """Compiles C++ source into `folder/stem.so` and returns its path; without a folder, into a new private_folder().

    CompileError, with the compiler and its first error line, where it fails, hangs or is killed; the source is then kept in the folder as
    `stem.cpp` and named. With NATIF_KEEP=1 it is kept in any case. OSError where the folder can't be written or is full, ValueError where
    the stem is no plain file name.
    """
    if not re.fullmatch(r"\w[\w.-]*", stem, re.ASCII):
        raise ValueError(f"natif: {stem!r} can't be the name of a generated file")
    folder = folder or private_folder()
    unit = folder / f"{stem}.cpp"
    product = folder / f"{stem}.so"
    unit.write_text(source, encoding="utf-8")
    # Relative names, run in the folder: the object then holds no path of this machine.
    _compile([*flags(target), *extra_flags, f"-I{include_folder()}", unit.name, "-o", product.name, "-lm"], unit, product)
    if not kept():
        unit.unlink()
    return product


def compile_units(
    units: Sequence[Unit], *, stem: str, extra_flags: tuple[str, ...] = (), folder: Path | None = None, pool: "Executor | None" = None
) -> Path:
    """As compile_shared, for an artifact of several files, each compiled for its own target: on the pool's threads where there is one."""
    if len(units) == 1:
        source, target = units[0].text, units[0].target
        if pool is None:
            return compile_shared(source, stem=stem, target=target, extra_flags=extra_flags, folder=folder)
        return pool.submit(compile_shared, source, stem=stem, target=target, extra_flags=extra_flags, folder=folder).result()
    folder = folder or private_folder()
    files = [folder / f"{stem}.{index}.cpp" for index in range(len(units))]

    def compile_unit(unit: Unit, file: Path) -> Path:
        file.write_text(unit.text, encoding="utf-8")
        product = file.with_suffix(".o")
        _compile([*flags(unit.target), *extra_flags, f"-I{include_folder()}", "-c", file.name, "-o", product.name], file, product)
        return product

    objects = list((pool.map if pool else map)(compile_unit, units, files))
    product = folder / f"{stem}.so"
    _compile([*flags(units[0].target), *(each.name for each in objects), "-o", product.name, "-lm"], files[0], product)
    for leftover in [*objects, *([] if kept() else files)]:
        leftover.unlink()
    return product


def _compile(arguments: list[str], unit: Path, product: Path) -> None:
    """Runs the compiler in the folder of the unit. CompileError, with its first error line, where it does not make the product."""
    compiler = find_compiler()
    limit = _time_limit.get()
    limit = COMPILE_TIMEOUT if limit is None else limit
    status, said = _run([*compiler.command, *arguments], unit.parent, timeout=limit)
    if status == 0 and product.exists():
        return
    if "No space left on device" in said:
        import errno

        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(unit.parent))
    reason = _reason(status, said, limit)
    raise CompileError(f"natif: {compiler.command[0]} ({compiler.version}) {reason}; the generated source is kept in {unit}")


def _reason(status: int | None, said: str, limit: float) -> str:
    if status is None:
        return f"did not finish within {limit:.3g} s and was killed"
    if status < 0:
        import signal

        return f"was killed by {signal.Signals(-status).name}; is there enough memory?"
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    first = next((line for line in lines if "error" in line), lines[0] if lines else f"exit status {status}")
    return f"failed: {first}"


_running: set[int] = set()
_stopping = threading.Event()


def stop() -> None:
    """Ends the compilers that other threads of this process run, now and until resume(); their calls raise KeyboardInterrupt."""
    import contextlib
    import signal

    _stopping.set()
    for group in list(_running):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)


def resume() -> None:
    """Lets compilers run again after stop()."""
    _stopping.clear()


def _run(command: list[str], folder: Path, timeout: float) -> tuple[int | None, str]:
    """The exit status, None for a time-out, and what the command printed. Its process group never outlives the call."""
    import signal
    import subprocess

    if _stopping.is_set():
        raise KeyboardInterrupt

    environment = {**os.environ, "LC_ALL": "C"}
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        return 127, str(error)
    _running.add(process.pid)
    try:
        said, _ = process.communicate(timeout=timeout)
    except BaseException as reason:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if isinstance(reason, subprocess.TimeoutExpired):
            return None, ""
        raise
    finally:
        _running.discard(process.pid)
    if _stopping.is_set():
        raise KeyboardInterrupt
    return process.returncode, said


def private_folder() -> Path:
    """A new folder that only this user can enter; removed when this process ends, unless a generated source was kept in it."""
    import atexit
    import shutil
    import tempfile

    folder = tempfile.mkdtemp(prefix="natif-")
    owner = os.getpid()

    def remove() -> None:
        # A forked child runs its parent's exit handlers too; the folder is not the child's.
        if os.getpid() == owner and not any(Path(folder).glob("*.cpp")):
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return Path(folder)
