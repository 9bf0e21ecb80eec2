"""From claimed modules to artifacts: C++ for every level of the target, then the compilers, as many at once as the settings say."""

import os
import re
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from natif import toolchain
from natif.errors import CompileError
from natif.packaging.config import Settings
from natif.packaging.modules import Module

PORTABLE_LEVELS = {"x86_64": ("x86-64-v2", "x86-64-v3", "x86-64-v4"), "aarch64": ("aarch64",)}

Progress = Callable[[str, int, int], None]
"""Called with the module that has just been compiled, how many have been, and how many there are."""


@dataclass(frozen=True)
class Generated:
    """One module's C++. `functions` has for each function `name`, `ir`, `plan` and `sites`, in the order of module.functions."""

    module: Module
    units: tuple[toolchain.Unit, ...]
    functions: tuple[dict[str, Any], ...]

    @property
    def cpp(self) -> str:
        """All files as one text; where there is one for each level, each after its name."""
        if len(self.units) == 1:
            return self.units[0].text
        return "\n".join(f"// ---- {unit.name} ({unit.target})\n{unit.text}" for unit in self.units)


def levels(target: str) -> tuple[str, ...]:
    """The vector levels of a target on this machine. CompileError where natif generates no code for the machine."""
    machine = os.uname().machine
    if machine not in PORTABLE_LEVELS:
        raise CompileError(f"natif: natif makes no native code for {machine}; build on x86-64 or AArch64")
    return PORTABLE_LEVELS[machine] if target == "portable" else (target,)


def generate(module: Module, settings: Settings) -> Generated:
    """The C++ of a module's native functions. CompileError where a lane that was asked for can't be met."""
    from natif._compiler import compile_module

    chosen = levels(settings.target)
    requests = [(function.claim, function.name, function.lane, function.numerics) for function in module.functions]
    plan = compile_module(module.tree, module.place, module.name, requests, list(chosen))
    units = tuple(toolchain.Unit(name, level or chosen[0], text) for name, level, text in plan.files)
    return Generated(module, units, tuple(plan.functions))


def compile_all(
    generated: Sequence[Generated], settings: Settings, *, cached: bool = True, progress: Progress | None = None
) -> dict[str, Path]:
    """The shared object of each module, by the module's name. After an interrupt or an error no compiler is left running."""
    from natif.cache import cached_build

    if not generated:
        return {}
    toolchain.find_compiler()
    scratch = None if cached else toolchain.private_folder()

    def build(each: Generated) -> Path:
        stem = artifact_stem(each.module.name)
        if scratch is None:
            return cached_build(each.units, stem, pool=compilers)
        folder = scratch / sha256(each.module.name.encode()).hexdigest()
        folder.mkdir()
        return toolchain.compile_units(each.units, stem=stem, folder=folder, pool=compilers)

    artifacts: dict[str, Path] = {}
    futures: dict[Future[Path], Module] = {}
    compilers = ThreadPoolExecutor(settings.parallel)
    # These threads only wait for those of the compilers, so as many modules can wait as there are.
    modules = ThreadPoolExecutor(min(len(generated), 64))
    try:
        for each in generated:
            futures[modules.submit(build, each)] = each.module
        for future in as_completed(futures):
            module = futures[future]
            try:
                artifacts[module.name] = future.result()
            except CompileError as error:
                raise type(error)(f"natif: {module.source.path}: {str(error).removeprefix('natif: ')}") from None
            if progress is not None:
                progress(module.name, len(artifacts), len(futures))
    except BaseException:
        toolchain.stop()
        raise
    finally:
        modules.shutdown(cancel_futures=True)
        compilers.shutdown(cancel_futures=True)
        toolchain.resume()
    return artifacts


def artifact_stem(module_name: str) -> str:
    """The name of a module's files in its manifest's folder: readable, plain, and different for different modules."""
    plain = re.sub(r"[^\w.]", "_", module_name, flags=re.ASCII).lstrip(".")
    return plain if plain == module_name and len(plain) <= 80 else f"{plain[:60]}-{sha256(module_name.encode()).hexdigest()[:12]}"
