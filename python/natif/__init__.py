"""natif: typed TensorFlow functions as native code, with eager's very bits.

    @natif.native
    def score(x: TensorF32Cpu2D, w: TensorF32Cpu2D) -> TensorI64Cpu1D: ...

The names here are the public surface. Importing natif imports neither TensorFlow nor the compiler; they are loaded when they are needed.
"""

from typing import TYPE_CHECKING, Any

from natif._version import __version__
from natif.errors import CompileError
from natif.native import compile, native  # noqa: A004

if TYPE_CHECKING:
    from collections.abc import Sequence

    from natif.packaging import BuildResult
    from natif.report import Report

__all__ = ["CompileError", "__version__", "build", "capabilities", "check", "compile", "install", "native"]


def check(*paths: Any) -> "Report":
    """What natif says of the typed functions of files and folders, without importing them or TensorFlow.

    A folder stands for every .py file below it, no path for the current folder. Reported are the functions that natif.native decorates and
    those that have a tensor marker among their annotations. A file that can't be read or parsed is a site of its own, with its place.
    """
    from natif.checking import check

    return check(*paths)


def build(*paths: Any, out: Any = None, **options: Any) -> "BuildResult":
    """Builds packages and modules ahead of time: copies of them with their native code, and a wheel, in the folder `out` ("dist").

    The paths are packages, folders of packages, projects or single modules; none: the project around the current folder. Options: target,
    numerics, lane, jobs, cache, progress; see natif.packaging.build. CompileError where something can't be built.
    """
    from natif import packaging

    return packaging.build(*paths, out=out, **options)


def capabilities() -> dict[str, Any]:
    """What this build of natif can make native, as plain data: see natif.capability."""
    from natif.capability import manifest

    return manifest()


def install(packages: "Sequence[str] | None" = None) -> None:
    """From now on, modules are compiled as they are imported: their typed functions are native without a decorator. See natif.hook."""
    from natif.hook import install

    install(packages)
