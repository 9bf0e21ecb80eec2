"""What natif needs of a machine, looked at one by one: the work of `natif doctor`.

Each finding has a status: "good", "note" (works, but something is worth knowing) or "bad" (natif can't do its work), and a remedy where it
is not good.
"""

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    subject: str
    status: str
    text: str
    remedy: str = ""


def examine() -> Iterator[Finding]:
    """All findings, one after the other, since some take a second. Never raises: what fails is a finding."""
    for subject, look in LOOKS.items():
        try:
            yield look()
        except Exception as error:
            yield Finding(
                subject,
                "bad",
                f"{type(error).__name__}: {error}".replace("\n", " "),
                "install natif again; report it where that does not help",
            )


def _python() -> Finding:
    from natif._version import __version__

    text = f"natif {__version__} on CPython {sys.version.split()[0]} ({sys.executable})"
    if sys.implementation.name != "cpython" or sys.version_info < (3, 11):
        return Finding("natif", "bad", text, "use CPython 3.11 or later")
    from natif import _compiler, _runtime  # noqa: F401

    return Finding("natif", "good", text)


def _compiler() -> Finding:
    from natif import toolchain
    from natif.errors import CompileError

    try:
        compiler = toolchain.find_compiler()
        toolchain.compile_shared('extern "C" int natif_doctor() { return 0; }\n', stem="doctor")
    except (CompileError, OSError) as error:
        return Finding(
            "compiler",
            "bad",
            str(error).removeprefix("natif: "),
            "install g++ (Debian: apt install g++) or set NATIF_CXX; built packages run without",
        )
    return Finding("compiler", "good", f"{' '.join(compiler.command)}: {compiler.version}, for {compiler.machine}")


def _tensorflow() -> Finding:
    import importlib.metadata

    found = [name for name in ("tensorflow", "tensorflow-cpu") if _installed(name)]
    if not found:
        return Finding(
            "TensorFlow", "bad", "it is not installed", "install tensorflow-cpu or tensorflow; natif check and natif build work without it"
        )
    version = f"{found[0]} {importlib.metadata.version(found[0])}"
    from natif import _runtime

    try:
        _runtime.check_tensorflow()
    except (RuntimeError, ImportError) as error:
        return Finding(
            "TensorFlow", "bad", f"{version}: {str(error).removeprefix('natif: ')}", "install a version that natif knows: 2.16 to 2.21"
        )
    return Finding("TensorFlow", "good", f"{version}: natif works with it")


def _installed(name: str) -> bool:
    import importlib.metadata

    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _processor() -> Finding:
    from natif.toolchain import cpu_flags

    flags = set(cpu_flags())
    needs = {
        "x86-64-v2": {"sse4_2", "ssse3", "popcnt"},
        "x86-64-v3": {"avx2", "fma", "bmi1", "bmi2"},
        "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
    }
    machine = os.uname().machine
    if machine == "aarch64":
        return Finding("processor", "good", "aarch64")
    levels = [level for level, needed in needs.items() if needed <= flags]
    if machine != "x86_64" or not levels:
        return Finding("processor", "bad", f"{machine}, of no level that natif has code for", "use x86-64 from level v2, or AArch64")
    vnni = "avx512_vnni" in flags or "avx_vnni" in flags
    return Finding("processor", "good", f"{machine}, levels {', '.join(levels)}" + (", VNNI" if vnni else ""))


def _self_check() -> Finding:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    if not any(map(_installed, ("tensorflow", "tensorflow-cpu"))):
        return Finding("self-check", "note", "needs TensorFlow", "install TensorFlow")
    rules = _decided_rules()
    refuted = sorted(rule for rule, proven in rules.items() if not proven)
    if refuted:
        text = f"{len(rules) - len(refuted)} of {len(rules)} rules give eager's bits here; not {', '.join(refuted)}"
        return Finding("self-check", "note", text, "nothing has to be done: those ops run through TensorFlow")
    return Finding("self-check", "good", f"all {len(rules)} rules give eager's bits here")


def _decided_rules() -> dict[str, bool]:
    """The self-check's outcome for every rule: they are decided when the first artifact that relies on them is called, so one is made."""
    import importlib.util
    import tempfile
    from pathlib import Path

    import numpy as np
    import tensorflow as tf

    import natif
    from natif import _runtime

    with tempfile.TemporaryDirectory(prefix="natif-") as folder:
        file = Path(folder) / "natif_doctor_probe.py"
        file.write_text(_probe(), encoding="utf-8")
        spec = importlib.util.spec_from_file_location(file.stem, file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        functions = [natif.native(require=True)(value) for name, value in vars(module).items() if name.startswith("probe")]
        # Any call of the artifact decides all of its rules.
        functions[0](*[tf.constant(np.ones((2, 2), np.float32))] * len(functions[0].__annotations__))
    # A rule has a form for each class of machine ("matmul@eigen"); one that holds is enough.
    decided: dict[str, bool] = {}
    for form, holds in _runtime.self_check().items():
        rule = form.partition("@")[0]
        decided[rule] = decided.get(rule, False) or holds
    return decided


def _probe() -> str:
    """The source of one function for each op that has an exactness rule, called on matrices where that is native."""
    from natif.capability import manifest

    lines = ["import tensorflow as tf", "from natif.types import *"]
    for rule in manifest()["rules"]:
        if rule["exactness"]["rule"] and rule["ranks"]:
            ranks = max(rule["ranks"], key=lambda ranks: (all(rank == 2 for rank in ranks), -sum(ranks)))
            names = [f"a{index}" for index in range(len(ranks))]
            parameters = ", ".join(f"{name}: TensorF32Cpu{rank}D" for name, rank in zip(names, ranks, strict=True))
            lines.append(f"def probe_{len(lines)}({parameters}): return {rule['spellings'][0]}({', '.join(names)})")
    return "\n".join(lines) + "\n"


def _cache() -> Finding:
    from natif import cache, cache_folder
    from natif.errors import CacheError

    folder = cache_folder.folder_name()
    try:
        cache_folder.folder()
        sizes = [file.stat().st_size for file in folder.iterdir() if file.is_file()]
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(13, "it can't be written")
    except CacheError as error:
        return Finding("cache", "bad", str(error).removeprefix("natif: "), f"chmod 700 {folder}, or set NATIF_CACHE_DIR")
    except OSError as error:
        return Finding(
            "cache",
            "note",
            f"{folder}: {error.strerror}",
            "set NATIF_CACHE_DIR to a folder that can be written; until then every process compiles anew",
        )
    return Finding("cache", "good", f"{folder}: {sum(sizes):,} of {cache.SIZE_LIMIT:,} bytes; natif clean --all empties it")


def _mode() -> Finding:
    chosen = os.environ.get("NATIF_MODE") or "auto"
    from natif.policy import MODES

    if chosen not in MODES:
        return Finding("NATIF_MODE", "note", f"{chosen!r} is none of {', '.join(MODES)}, and counts as auto", "unset it or correct it")
    if chosen == "python":
        return Finding("NATIF_MODE", "note", "python: nothing runs natively", "unset it where that is not wanted")
    return Finding("NATIF_MODE", "good", chosen)


LOOKS: dict[str, Callable[[], Finding]] = {
    "natif": _python,
    "compiler": _compiler,
    "TensorFlow": _tensorflow,
    "processor": _processor,
    "self-check": _self_check,
    "cache": _cache,
    "NATIF_MODE": _mode,
}
