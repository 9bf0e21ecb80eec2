"""The errors of a build, by what has to be mended. Each message names file, cause and remedy in one or two lines."""

from natif.errors import CompileError


class ConfigurationError(CompileError):
    """The configuration, or what was asked for, makes no sense."""


class RequirementError(CompileError):
    """A function that has to be native stays Python."""


class SourceError(CompileError):
    """A source file that can't be read or parsed."""
