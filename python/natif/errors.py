"""The exceptions that natif raises itself. Their messages begin with "natif: ", say what is wrong, and name the remedy."""


class CompileError(RuntimeError):
    """A function that could not be made native: refused by the compiler, or its generated C++ could not be built."""


class CacheError(CompileError):
    """A cache folder that natif refuses to load code from, because others could have written to it."""
