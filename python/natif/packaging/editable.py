"""The wheel of an editable installation: no code, but a finder that takes the project's packages from their sources.

The finder is a few lines that Python runs at start-up and that import nothing of natif; when one of the packages is first imported, its
modules go through natif.install()'s loader, so that typed functions are native whether decorated or not, as they are in the built wheel.
"""

from pathlib import Path

from natif.packaging.build import distribution_files
from natif.packaging.metadata import normalized, version
from natif.packaging.project import Project
from natif.packaging.wheel import Tags, wheel_name, write

_FINDER = '''"""Imports the packages of an editable installation from their sources. Written by natif."""

import sys


class Finder:
    """Finds the top-level packages and modules in FOLDERS, and has natif load them and what is in them."""

    FOLDERS = {folders!r}

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        if fullname.partition(".")[0] not in cls.FOLDERS:
            return None
        from natif.hook import Finder

        return Finder().find_spec(fullname, path or [cls.FOLDERS[fullname]], target)


sys.meta_path.insert(0, Finder)
'''


def write_editable_wheel(project: Project, folder: Path) -> str:
    """Writes the wheel into the folder and returns its name."""
    name = normalized(project.name)
    number = version(project)
    module = f"_natif_editable_{name}"
    folders = {top.name: str(top.path.parent.absolute()) for top in project.tops}
    content = {f"{module}.py": _FINDER.replace("{folders!r}", repr(folders)).encode(), f"{module}.pth": f"import {module}\n".encode()}
    tags = Tags("py3", "none", "any")
    file = wheel_name(name, number, tags)
    write(folder / file, dist_info=f"{name}-{number}.dist-info", tags=tags, content=content, metadata=distribution_files(project))
    return file
