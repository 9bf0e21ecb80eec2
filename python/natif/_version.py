"""natif's version, in one place: the build reads it from here (pyproject.toml, CMakeLists.txt), the cache puts it in its keys."""

__version__ = "0.1.0"
