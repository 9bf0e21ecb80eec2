"""From a project of Python modules to a hybrid package and a wheel: `natif build` as a library. See natif.packaging.build."""

from natif.packaging.build import BuildResult, build, generate

__all__ = ["BuildResult", "build", "generate"]
