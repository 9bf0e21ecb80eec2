"""Builds: a project's sources to a hybrid package and a wheel, in the order of the steps below.

config    the settings          compilation  C++, then shared objects
project   the files             manifest     what the package says of itself
modules   the claims            output       everything in place at once
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from natif.packaging import config, output, state
from natif.packaging.errors import ConfigurationError
from natif.packaging.project import Project, Top, find

if TYPE_CHECKING:
    from natif.packaging.compilation import Generated, Progress
    from natif.packaging.modules import Module

GENERATED = "build/natif"
"""Where generate() writes to when nothing else is said."""

_SELFTEST = '''"""Compares the native code of this package with TensorFlow's eager: `python -m {name}`. Written by natif."""

from natif.selftest import main

if __name__ == "__main__":
    raise SystemExit(main(__file__))
'''

_MODULE_FOLDER = '"""The native code of the module {name}. Written by natif."""\n'


@dataclass(frozen=True)
class BuildResult:
    """What a build made. `packages` are the importable copies below `out`; `up_to_date`: all of it was there already, nothing was done."""

    out: Path
    packages: tuple[Path, ...]
    wheel: Path | None
    native: tuple[str, ...]
    """The native functions, as MODULE:NAME."""
    python: tuple[str, ...]
    """The typed functions that stay Python, each with its place and reason."""
    up_to_date: bool = False


@dataclass(frozen=True)
class Built:
    """A project in memory: the files of its packages by their paths in the wheel, and what they were made from."""

    project: Project
    modules: tuple["Module", ...]
    generated: dict[str, "Generated"]
    artifacts: dict[str, Path]
    content: dict[str, bytes]


def build(
    *paths: Any, out: Any = None, target: str | None = None, numerics: str | None = None, lane: str | None = None, jobs: int | None = None,
    cache: bool = True, progress: "Progress | None" = None,
) -> BuildResult:  # fmt: skip
    """Builds the packages and modules of these paths (else of `[tool.natif] paths`, else of the project around the current folder).

    Writes to the folder `out` a copy of each package with its native code, and a wheel. What is None comes from the environment, from
    pyproject.toml, or from the defaults (natif.packaging.config). CompileError where anything can't be built; then `out` is as it was.
    """
    given = {"target": target, "numerics": numerics, "lane": lane, "jobs": jobs, "out": str(out) if out is not None else None}
    settings = config.load(Path(paths[0]) if paths else Path.cwd(), **given)
    project = find(paths, settings)
    folder = out_folder(settings, explicit=out is not None)
    _check_out(project, folder)
    key = f"build {project.name}"
    wanted = state.fingerprint(project, kind="build")
    recorded = state.up_to_date(folder, key, wanted) if cache else None
    if recorded is not None:
        return _result(folder, project, recorded, up_to_date=True)
    built = make(project, cached=cache, progress=progress)
    with output.aside(folder) as work:
        name = write_wheel(built, work)
        output.write_tree(work / "tree", built.content)
        for top in _tops(built.content):
            output.replace(work / "tree" / top, folder / top)
        output.replace(work / name, folder / name)
        facts = {"wheel": name, "native": _native(built), "python": _python(built)}
        state.remember(folder, key, wanted, [*built.content, name], facts)
    return _result(folder, project, facts, up_to_date=False)


def generate(*paths: Any, out: Any = None, **options: Any) -> BuildResult:
    """The package tree with the generated C++ in the place of the artifacts, without compiling. Takes the options of build()."""
    given = {name: options.get(name) for name in ("target", "numerics", "lane")}
    settings = config.load(Path(paths[0]) if paths else Path.cwd(), **given)
    project = find(paths, settings)
    folder = Path(out if out is not None else GENERATED).absolute()
    _check_out(project, folder)
    built = make(project, compiled=False)
    with output.aside(folder) as work:
        output.write_tree(work / "tree", built.content)
        for top in _tops(built.content):
            output.replace(work / "tree" / top, folder / top)
        facts = {"wheel": None, "native": _native(built), "python": _python(built)}
        state.remember(folder, f"generate {project.name}", "", built.content, facts)
    return _result(folder, project, facts, up_to_date=False)


def make(project: Project, *, compiled: bool = True, cached: bool = True, progress: "Progress | None" = None) -> Built:
    """The project's packages in memory: claimed, generated and, where asked for, compiled."""
    from natif.packaging import compilation, modules

    found = modules.read(project)
    generated = {module.name: compilation.generate(module, project.settings) for module in found if module.functions}
    artifacts = {}
    if compiled:
        artifacts = compilation.compile_all(list(generated.values()), project.settings, cached=cached, progress=progress)
    content: dict[str, bytes] = {}
    for top in project.tops:
        own = [module for module in found if module.source in top.files]
        content |= _content(top, own, generated, artifacts, project)
    return Built(project, tuple(found), generated, artifacts, content)


def _content(
    top: Top, found: "list[Module]", generated: "dict[str, Generated]", artifacts: dict[str, Path], project: Project
) -> dict[str, bytes]:
    from natif.packaging import manifest
    from natif.packaging.compilation import artifact_stem

    texts = {module.source.place: module.text for module in found}
    content = {str(file.place): texts.get(file.place) or file.path.read_bytes() for file in top.files}
    if not found:
        return content
    folder = top.folder
    selftest = PurePosixPath(top.name if top.is_package else folder, "natif_selftest.py")
    if str(selftest) in content:
        raise ConfigurationError(f"natif: {top.path}/natif_selftest.py is in the place of the self-test that a build writes; rename it")
    names = {module.name for module in found}
    own = {name: each for name, each in generated.items() if name in names}
    own_artifacts = {name: path for name, path in artifacts.items() if name in names}
    content[str(folder / "manifest.json")] = manifest.manifest(found, own, own_artifacts, project.settings)
    for module in found:
        stem = artifact_stem(module.name)
        content[str(folder / f"{stem}.json")] = manifest.description(module, own.get(module.name))
        if module.name in own_artifacts:
            content[str(folder / f"{stem}.so")] = own_artifacts[module.name].read_bytes()
        elif module.name in own:
            content |= {str(folder / stem / unit.name): unit.text.encode() for unit in own[module.name].units}
    content[str(selftest)] = _SELFTEST.format(name=".".join(selftest.with_suffix("").parts)).encode()
    if not top.is_package:
        content[str(folder / "__init__.py")] = _MODULE_FOLDER.format(name=top.name).encode()
    return content


def write_wheel(built: Built, folder: Path) -> str:
    """Writes the wheel into the folder and returns its name."""
    from natif.packaging import metadata, tags, wheel

    project = built.project
    name = metadata.normalized(project.name)
    number = metadata.version(project)
    files = distribution_files(project)
    write = functools.partial(wheel.write, dist_info=f"{name}-{number}.dist-info", content=built.content, metadata=files)
    python, abi = tags.python_tag(built.content)
    if not built.artifacts and python == "py3":
        chosen = wheel.Tags(python, abi, "any")
    else:
        chosen = wheel.Tags(python, abi, tags.plain_platform())
        if project.settings.target == "portable" and python == "py3":
            plain = folder / wheel.wheel_name(name, number, chosen)
            write(plain, tags=chosen)
            chosen = wheel.Tags(python, abi, tags.platform_tag(plain, tags.glibc_floor(built.artifacts.values())))
    file_name = wheel.wheel_name(name, number, chosen)
    write(folder / file_name, tags=chosen)
    return file_name


def distribution_files(project: Project) -> dict[str, bytes]:
    """METADATA, entry points and licences: what a dist-info folder has besides WHEEL and RECORD."""
    from natif.packaging import metadata

    files = {"METADATA": metadata.metadata(project).encode()}
    points = metadata.entry_points(project)
    if points:
        files["entry_points.txt"] = points.encode()
    for place in metadata.licence_files(project):
        assert project.settings.root is not None
        files[f"licenses/{place}"] = (project.settings.root / place).read_bytes()
    return files


def out_folder(settings: config.Settings, *, explicit: bool) -> Path:
    """Where the outputs go: what was asked for and the default from the current folder, what pyproject.toml says from its own."""
    from_file = not explicit and settings.root is not None and settings.out != config.Settings.out
    return ((settings.root or Path()) if from_file else Path.cwd()) / settings.out


def _check_out(project: Project, folder: Path) -> None:
    """Refuses to write over anything that no build wrote."""
    recorded = state.recorded(folder)
    for top in project.tops:
        target = folder / top.path.name
        if top.path.is_dir() and folder.resolve().is_relative_to(top.path.resolve()):
            raise ConfigurationError(f"natif: the output folder {folder} is inside the package {top.path}; choose another with --out")
        ours = any(PurePosixPath(name).parts[0] == top.path.name for name in recorded)
        if target.exists() and not ours:
            raise ConfigurationError(f"natif: {target} is there already and natif did not build it; choose another folder with --out")


def _tops(content: Mapping[str, bytes]) -> list[str]:
    return sorted({PurePosixPath(name).parts[0] for name in content})


def _native(built: Built) -> list[str]:
    return [f"{module.name}:{function.name}" for module in built.modules for function in module.functions]


def _python(built: Built) -> list[str]:
    from natif.report import reason_of

    reports = [report for module in built.modules for report in module.reports]
    return [f"{each.file}:{each.line}: {each.name}: {reason_of(each)}" for each in reports if not each.is_native]


def _result(out: Path, project: Project, facts: Mapping[str, Any], *, up_to_date: bool) -> BuildResult:
    packages = tuple(out / top.path.name for top in project.tops)
    wheel = out / facts["wheel"] if facts["wheel"] else None
    return BuildResult(out, packages, wheel, tuple(facts["native"]), tuple(facts["python"]), up_to_date)
