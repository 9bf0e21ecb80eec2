"""A wheel's METADATA and entry points from the `[project]` table of pyproject.toml (PEP 621), as core metadata 2.4.

What the table does not have is left out; without a table there are a name and a version. natif's own requirement is added: the range of
versions that load the package's artifacts. No TensorFlow distribution is required: `tensorflow` and `tensorflow-cpu` both serve.
"""

import ast
import re
from pathlib import Path
from typing import Any

from natif.packaging.config import Settings
from natif.packaging.errors import ConfigurationError
from natif.packaging.manifest import NATIF
from natif.packaging.project import Project

_VERSION = re.compile(r"v?(\d+!)?\d+(\.\d+)*((a|b|c|rc|alpha|beta|pre|preview)[-_.]?\d*)?([-_.]?(post|rev|r)[-_.]?\d*|-\d+)?([-_.]?dev[-_.]?\d*)?(\+[a-z0-9]+([-_.][a-z0-9]+)*)?", re.IGNORECASE)  # fmt: skip  # noqa: E501
_CONTENT_TYPES = {".md": "text/markdown", ".rst": "text/x-rst", ".txt": "text/plain"}
_DYNAMIC = {"version"}


def normalized(name: str) -> str:
    """The name as file names of wheels and sdists have it."""
    return re.sub(r"[-_.]+", "_", name).lower()


def version(project: Project) -> str:
    """The version: the table's, else `__version__` of the version file or of the first package, else 0.0.0."""
    settings = project.settings
    given = settings.project.get("version")
    if given is None:
        given = _version_of(project) or "0.0.0"
    if not isinstance(given, str) or not _VERSION.fullmatch(given):
        raise ConfigurationError(f'natif: {_where(settings, "version")}: {given!r} is no version; write one such as "1.2.0"')
    return given


def _version_of(project: Project) -> str | None:
    settings = project.settings
    if settings.version_file:
        file = (settings.root or Path()) / settings.version_file
        found = _assigned_version(file)
        if found is None:
            raise ConfigurationError(f'natif: {file} has no line __version__ = "…"; add one or correct [tool.natif] version-file')
        return found
    if settings.project and "version" not in settings.project.get("dynamic", ()):
        raise ConfigurationError(f'natif: {_where(settings, "version")} is missing; write version = "…", or dynamic = ["version"]')
    top = project.tops[0]
    return _assigned_version(top.path / "__init__.py" if top.is_package else top.path)


def _assigned_version(file: Path) -> str | None:
    try:
        tree = ast.parse(file.read_bytes(), str(file))
    except (OSError, SyntaxError, ValueError):
        return None
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(target, ast.Name) and target.id == "__version__" for target in node.targets):
            return node.value.value if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str) else None
    return None


def _where(settings: Settings, key: str) -> str:
    return f"{settings.root}/pyproject.toml: [project] {key}" if settings.root else key


def metadata(project: Project) -> str:
    """The text of METADATA. ConfigurationError that names the key where the table is not as PEP 621 wants it."""
    return _Writer(project).text()


class _Writer:
    def __init__(self, project: Project):
        self.project = project
        self.settings = project.settings
        self.table = project.settings.project
        self.lines = ["Metadata-Version: 2.4", f"Name: {project.name}", f"Version: {version(project)}"]

    def text(self) -> str:
        unknown = set(self._list("dynamic")) - _DYNAMIC
        if unknown:
            raise self._error("dynamic", f"natif finds only the version by itself, not {', '.join(sorted(unknown))}; write it out")
        self._line("Summary", self._string("description"))
        self._line("Requires-Python", self._string("requires-python"))
        self._licence()
        self._people("authors", "Author")
        self._people("maintainers", "Maintainer")
        keywords = self._list("keywords")
        self._line("Keywords", ",".join(keywords))
        for classifier in self._list("classifiers"):
            self._line("Classifier", classifier)
        for label, url in self._strings("urls").items():
            self._line("Project-URL", f"{label}, {url}")
        self._requirements()
        return self._with_readme()

    def _requirements(self) -> None:
        required = self._list("dependencies")
        own = [each for each in required if normalized(re.split(r"[^\w.-]", each.strip(), maxsplit=1)[0]) == "natif"]
        for each in [*(each for each in required if each not in own), f"natif{NATIF}"]:
            self._line("Requires-Dist", each)
        for extra, packages in self._table("optional-dependencies").items():
            self._line("Provides-Extra", extra)
            if not isinstance(packages, list) or not all(isinstance(package, str) for package in packages):
                raise self._error(f"optional-dependencies.{extra}", "it is a list of strings")
            for package in packages:
                name, _, marker = (part.strip() for part in package.partition(";"))
                condition = f"({marker}) and extra == '{extra}'" if marker else f"extra == '{extra}'"
                self._line("Requires-Dist", f"{name} ; {condition}")

    def _licence(self) -> None:
        licence = self.table.get("license")
        if isinstance(licence, dict):
            text = licence.get("text") or (self._file("license", licence["file"]) if "file" in licence else None)
            if not isinstance(text, str):
                raise self._error("license", "it is an SPDX expression, or a table with text or file")
            self._line("License", text.strip().replace("\n", "\n        "))
        elif licence is not None:
            self._line("License-Expression", self._string("license"))
        for place in licence_files(self.project):
            self._line("License-File", place)

    def _people(self, key: str, field: str) -> None:
        people = self.table.get(key, [])
        if not isinstance(people, list) or not all(isinstance(person, dict) for person in people):
            raise self._error(key, "it is a list of tables with name and email")
        self._line(field, ", ".join(person["name"] for person in people if "name" in person and "email" not in person))
        addresses = [
            f"{person['name']} <{person['email']}>" if "name" in person else person["email"] for person in people if "email" in person
        ]
        self._line(f"{field}-email", ", ".join(addresses))

    def _with_readme(self) -> str:
        readme = self.table.get("readme")
        body = ""
        if isinstance(readme, str):
            readme = {"file": readme}
        if isinstance(readme, dict):
            file = readme.get("file")
            body = self._file("readme", file) if file is not None else readme.get("text", "")
            kind = readme.get("content-type") or _CONTENT_TYPES.get(Path(str(file)).suffix.lower())
            if kind is None or not isinstance(body, str):
                raise self._error("readme", "its content-type is missing")
            self._line("Description-Content-Type", kind)
        elif readme is not None:
            raise self._error("readme", "it is a file name or a table")
        head = "\n".join(self.lines) + "\n"
        return f"{head}\n{body}" if body else head

    def _file(self, key: str, name: object) -> str:
        try:
            return ((self.settings.root or Path()) / str(name)).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise self._error(key, f"{name} can't be read: {error}") from None

    def _line(self, field: str, value: str) -> None:
        if not value:
            return
        if "\n" in value and field != "License":
            raise self._error(field.lower(), "it has a line break; write it in one line")
        self.lines.append(f"{field}: {value}")

    def _string(self, key: str) -> str:
        value = self.table.get(key, "")
        if not isinstance(value, str):
            raise self._error(key, "it is a string")
        return value

    def _list(self, key: str) -> list[str]:
        value = self.table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self._error(key, "it is a list of strings")
        return value

    def _table(self, key: str) -> dict[str, Any]:
        value = self.table.get(key, {})
        if not isinstance(value, dict):
            raise self._error(key, "it is a table")
        return value

    def _strings(self, key: str) -> dict[str, str]:
        table = self._table(key)
        if not all(isinstance(value, str) for value in table.values()):
            raise self._error(key, "its values are strings")
        return table

    def _error(self, key: str, what: str) -> ConfigurationError:
        return ConfigurationError(f"natif: {_where(self.settings, key)}: {what}")


def licence_files(project: Project) -> list[str]:
    """The licence files, as paths below pyproject.toml: those of `license-files`, else what is usually called so."""
    root = project.settings.root
    if root is None:
        return []
    patterns = project.settings.project.get("license-files", ["LICEN[CS]E*", "COPYING*", "NOTICE*", "AUTHORS*"])
    if not isinstance(patterns, list) or not all(isinstance(pattern, str) and ".." not in pattern.split("/") for pattern in patterns):
        raise ConfigurationError(f"natif: {_where(project.settings, 'license-files')}: it is a list of patterns below the folder")
    return sorted({path.relative_to(root).as_posix() for pattern in patterns for path in root.glob(pattern) if path.is_file()})


def entry_points(project: Project) -> str:
    """The text of entry_points.txt; "" where there are none."""
    table = project.settings.project
    groups = {"console_scripts": table.get("scripts", {}), "gui_scripts": table.get("gui-scripts", {}), **table.get("entry-points", {})}
    lines = []
    for group, entries in groups.items():
        if not isinstance(entries, dict) or not all(isinstance(target, str) and "\n" not in target for target in entries.values()):
            raise ConfigurationError(f"natif: {_where(project.settings, group)}: it is a table of strings")
        if entries:
            lines += [f"[{group}]", *(f"{name} = {target}" for name, target in sorted(entries.items())), ""]
    return "\n".join(lines)
