"""The PEP 517 and PEP 660 backend: `build-backend = "natif.buildapi"`. Runs in the project's folder; settings come from `[tool.natif]`.

    build_wheel      the wheel of natif build            build_editable   a wheel that points to the sources: their typed functions are
    build_sdist      the sources that it is made from                     compiled when they are imported, at the first call

Config settings (pip's `-C`): target, numerics, lane and jobs, as natif build has them.
"""

import io
import os
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from natif.packaging import config
from natif.packaging.build import distribution_files, make, write_wheel
from natif.packaging.editable import write_editable_wheel
from natif.packaging.errors import ConfigurationError
from natif.packaging.metadata import metadata, normalized, version
from natif.packaging.output import write_file
from natif.packaging.project import Project, find
from natif.packaging.wheel import source_time

_SETTINGS = ("target", "numerics", "lane", "jobs")


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    """Nothing besides natif itself; a C++ compiler is not something that pip installs."""
    return []


get_requires_for_build_sdist = get_requires_for_build_editable = get_requires_for_build_wheel


def build_wheel(wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None) -> str:
    """Builds the wheel into the folder and returns its name."""
    built = make(_project(config_settings))
    with tempfile.TemporaryDirectory(prefix="natif-") as scratch:
        name = write_wheel(built, Path(scratch))
        write_file(Path(wheel_directory) / name, (Path(scratch) / name).read_bytes())
    return name


def build_editable(wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None) -> str:
    """Builds the wheel of an editable installation into the folder and returns its name."""
    return write_editable_wheel(_project(config_settings), Path(wheel_directory))


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    """Writes the wheel's .dist-info folder without building, and returns its name."""
    project = _project(config_settings)
    folder = f"{normalized(project.name)}-{version(project)}.dist-info"
    for name, content in distribution_files(project).items():
        file = Path(metadata_directory) / folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return folder


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_sdist(sdist_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    """Writes the source distribution into the folder and returns its name; equal sources give equal bytes."""
    import gzip

    project = _project(config_settings)
    root = project.settings.root
    if root is None:
        raise ConfigurationError(f"natif: {Path.cwd()} has no pyproject.toml; a source distribution needs one")
    base = f"{normalized(project.name)}-{version(project)}"
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in _sources(project, root)}
    files["PKG-INFO"] = metadata(project).encode()
    buffer = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name in sorted(files):
            entry = tarfile.TarInfo(f"{base}/{name}")
            entry.size, entry.mode, entry.mtime = len(files[name]), 0o644, source_time()
            archive.addfile(entry, io.BytesIO(files[name]))
    write_file(Path(sdist_directory) / f"{base}.tar.gz", buffer.getvalue())
    return f"{base}.tar.gz"


def _project(config_settings: dict[str, Any] | None) -> Project:
    given = {name: value for name, value in (config_settings or {}).items() if name in _SETTINGS}
    unknown = set(config_settings or {}) - set(_SETTINGS)
    if unknown:
        raise ConfigurationError(f"natif: there is no config setting {sorted(unknown)[0]!r}; there are {', '.join(_SETTINGS)}")
    if "jobs" in given and str(given["jobs"]).isdecimal():
        given["jobs"] = int(given["jobs"])
    return find((), config.load(Path(os.getcwd()), **given))  # noqa: PTH109


def _sources(project: Project, root: Path) -> set[Path]:
    """The packages' files, pyproject.toml, the readme, the licences and the file with the version."""
    from natif.packaging.state import project_files

    paths = {root / "pyproject.toml", *(file.path for file in project.files), *project_files(project.settings)}
    return {path for path in paths if path.is_relative_to(root)}
