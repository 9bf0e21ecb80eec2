"""What is in a built package and its wheel: true tags and metadata, sources as written, the same bytes for the same sources."""

import ast
import base64
import csv
import email
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest
from sample import SHOP

import natif
from natif.packaging import build, config, tags
from natif.packaging.errors import ConfigurationError
from natif.shipped import ATTACH_LINE

HALF = "import natif\n\n\n@natif.native\ndef half(x: float) -> float:\n    return x / 2.0\n"


def run(code, path, **variables):
    """The output of Python code with a built tree on the path; what went wrong where it failed."""
    environment = {**os.environ, "PYTHONPATH": str(path), "PYTHONUTF8": "1", **variables}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd="/", env=environment, check=False)
    return done.stdout if done.returncode == 0 else done.stderr


@pytest.fixture(scope="module")
def archive(built):
    with zipfile.ZipFile(built.wheel) as opened:
        yield opened


def test_the_name_and_the_tags_say_the_truth(built, archive):
    name, version, python, abi, platform = built.wheel.stem.split("-")
    assert (name, version, python, abi) == ("natif_example_shop", "1.2.0", "py3", "none")
    manifest = json.loads(archive.read("shop/_natif/manifest.json"))
    floor = tuple(map(int, manifest["glibc"].split(".")))
    match = re.fullmatch(r"manylinux_(\d+)_(\d+)_x86_64", platform)
    assert match, "auditwheel is installed with the tests, and portable code needs nothing unusual"
    assert (int(match[1]), int(match[2])) >= floor >= (2, 2)
    about = email.message_from_bytes(archive.read("natif_example_shop-1.2.0.dist-info/WHEEL"))
    assert (about["Tag"], about["Root-Is-Purelib"]) == (f"py3-none-{platform}", "false")


def test_artifacts_need_the_c_library_only(archive, tmp_path):
    for name in archive.namelist():
        if name.endswith(".so"):
            said = subprocess.run(["readelf", "-d", archive.extract(name, tmp_path)], capture_output=True, text=True, check=True).stdout
            assert set(re.findall(r"Shared library: \[(.*?)\]", said)) <= {"libc.so.6", "libm.so.6"}


def test_the_glibc_floor_is_what_readelf_says(archive, tmp_path):
    from pathlib import Path

    artifact = Path(archive.extract("shop/_natif/shop.scoring.so", tmp_path))
    said = subprocess.run(["readelf", "--version-info", artifact], capture_output=True, text=True, check=True).stdout
    versions = {tuple(map(int, version.split("."))) for version in re.findall(r"GLIBC_([\d.]+)", said)}
    assert tags.glibc_floor([artifact]) == max(versions)
    assert tags.glibc_floor([Path("/lib/x86_64-linux-gnu/libm.so.6")]) >= (2, 2)


def test_metadata_is_what_pyproject_says_and_asks_for_a_range_of_natif(archive):
    metadata = email.message_from_bytes(archive.read("natif_example_shop-1.2.0.dist-info/METADATA"))
    assert (metadata["Name"], metadata["Version"], metadata["License-Expression"]) == ("natif-example-shop", "1.2.0", "Apache-2.0")
    assert metadata.get_all("Requires-Dist") == ["numpy", "natif>=0.1,<0.2"]
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata.get_payload().startswith("# shop")
    assert archive.read("natif_example_shop-1.2.0.dist-info/entry_points.txt") == b"[console_scripts]\nshop-demo = shop.demo:main\n"


def test_every_file_is_recorded(archive):
    record = list(csv.reader(io.StringIO(archive.read("natif_example_shop-1.2.0.dist-info/RECORD").decode())))
    assert [row[0] for row in record] == archive.namelist()
    for name, digest, size in record[:-1]:
        content = archive.read(name)
        assert (digest, size) == (
            "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode(),
            str(len(content)),
        )
    assert record[-1][1:] == ["", ""]


def test_sources_are_as_written_but_for_the_line_that_attaches(archive):
    for file in (SHOP / "src").rglob("*"):
        if file.is_file() and "__pycache__" not in file.parts:
            name = file.relative_to(SHOP / "src").as_posix()
            shipped = archive.read(name)
            expected = file.read_bytes() + (ATTACH_LINE.encode() + b"\n" if name == "shop/scoring.py" else b"")
            assert shipped == expected, name
    assert not [name for name in archive.namelist() if "tests" in name]


def test_the_manifest_and_the_descriptions(archive):
    manifest = json.loads(archive.read("shop/_natif/manifest.json"))
    assert (manifest["natif"], manifest["abi"], manifest["tensorflow"]) == (natif.__version__, 1, ">=2.16,<2.22")
    assert manifest["levels"] == ["x86-64-v2", "x86-64-v3", "x86-64-v4"]
    assert {"matmul", "softmax", "tanh"} <= set(manifest["rules"])
    assert set(manifest["modules"]) == {"shop.features", "shop.pricing", "shop.scoring", "shop.ranking.blend"}
    for name, module in manifest["modules"].items():
        assert hashlib.sha256(archive.read(module["source"])).hexdigest() == module["sha256"], name
        artifact = archive.read(f"shop/_natif/{module['artifact']['file']}")
        assert hashlib.sha256(artifact).hexdigest() == module["artifact"]["sha256"]
        description = json.loads(archive.read(f"shop/_natif/{module['description']}"))
        assert {function["name"] for function in module["functions"]} <= set(description["functions"])
    announced = json.loads(archive.read("shop/_natif/shop.ranking.blend.json"))["functions"]["announced"]
    assert announced["native"] is False


def test_the_result_says_what_is_native_and_what_is_not(built):
    assert "shop.scoring:logits" in built.native
    assert len(built.native) == 7
    (python,) = built.python
    assert python.startswith("shop/ranking/blend.py:19: announced: line 21: print ")


def test_the_same_sources_give_the_same_bytes(tmp_path, monkeypatch):
    wheels = []
    for place in ("here", "elsewhere/deeper"):
        package = tmp_path / place / "pkg"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("")
        (package / "half.py").write_text(HALF)
        monkeypatch.setenv("NATIF_CACHE_DIR", str(tmp_path / place / "cache"))
        monkeypatch.chdir(tmp_path / place)
        result = build(package, out=tmp_path / place / "dist", target="x86-64-v3", cache=place == "here", jobs=1 if place == "here" else 4)
        wheels.append(result.wheel.read_bytes())
    assert wheels[0] == wheels[1]
    for name in zipfile.ZipFile(io.BytesIO(wheels[0])).namelist():
        assert str(tmp_path).encode() not in zipfile.ZipFile(io.BytesIO(wheels[0])).read(name)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    later = zipfile.ZipFile(build(package, out=tmp_path / "dated", target="x86-64-v3").wheel)
    assert {entry.date_time for entry in later.infolist()} == {(2023, 11, 14, 22, 13, 20)}


def test_a_single_module_and_a_package_without_typed_functions(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "halves.py").write_text(HALF)
    result = build("halves.py", target="x86-64-v3")
    assert result.wheel.name == "halves-0.0.0-py3-none-linux_x86_64.whl"
    code = "import halves; print(halves.half.is_native, halves.__file__)"
    assert run(code, tmp_path / "dist", NATIF_MODE="native") == f"True {tmp_path}/dist/halves.py\n"
    assert zipfile.ZipFile(result.wheel).namelist()[:2] == ["halves.py", "halves_natif/__init__.py"]
    plain = tmp_path / "src" / "plain"
    plain.mkdir(parents=True)
    (plain / "__init__.py").write_text('__version__ = "3.1"\n')
    (plain / "data.bin").write_bytes(b"\0\1")
    result = build("src")
    assert (result.wheel.name, result.native) == ("plain-3.1-py3-none-any.whl", ())
    assert zipfile.ZipFile(result.wheel).read("plain/data.bin") == b"\0\1"
    assert not (tmp_path / "dist" / "plain" / "_natif").exists()


def test_native_code_for_this_machine_is_tagged_and_described_as_such(tmp_path):
    (tmp_path / "halves.py").write_text(HALF)
    result = build(tmp_path / "halves.py", out=tmp_path / "dist", target="native")
    assert result.wheel.name.endswith("-py3-none-linux_x86_64.whl")
    manifest = json.loads((tmp_path / "dist" / "halves_natif" / "manifest.json").read_bytes())
    assert "ssse3" in manifest["features"]
    assert run("import halves; print(halves.half.is_native)", tmp_path / "dist", NATIF_MODE="native") == "True\n"


def test_hostile_names_and_strings_stay_data(tmp_path, monkeypatch):
    """Identifiers, strings and file names go into C++ and paths; none may break out of them."""
    folder = tmp_path / 'so"urce*/ ; $(touch gone) \\'
    package = folder / "bös"
    package.mkdir(parents=True)
    (folder / "pyproject.toml").write_text('[project]\nname = "hostile"\nversion = "1"\n')
    (package / "__init__.py").write_text("")
    (package / "größe.py").write_text(
        "import natif\n\n"
        "#include </etc/passwd>  */ \\\n"
        "@natif.native\n"
        "def int_(register: float, größe: float) -> float:\n"
        '    """??/ */ */ int main() { " \\\\ } \\n %s %n #error"""\n'
        "    return register / größe\n\n\n"
        "@natif.native\n"
        "def template(namespace: int) -> int:\n"
        "    return namespace + 1\n"
    )
    (package / "-rf.py").write_text("x = 1\n")
    (package / 'a "quoted", name.txt').write_text("data")
    monkeypatch.chdir(folder)
    result = build(package, out=tmp_path / "dist", target="x86-64-v3")
    assert result.native == ("bös.größe:int_", "bös.größe:template")
    names = zipfile.ZipFile(result.wheel).namelist()
    assert 'bös/a "quoted", name.txt' in names
    assert "bös/-rf.py" in names
    assert all(
        re.fullmatch(r"[\w./-]+", name, re.ASCII) for name in names if name.endswith((".so", ".json")) for name in [name.rpartition("/")[2]]
    )
    assert not list(tmp_path.rglob("gone"))
    code = "import importlib; m = importlib.import_module('bös.größe'); print(m.int_.is_native, m.template.is_native)"
    assert run(code, tmp_path / "dist", NATIF_MODE="native") == "True True\n"
    record = zipfile.ZipFile(result.wheel).read(names[-1]).decode()
    assert [row[0] for row in csv.reader(io.StringIO(record))] == names


def test_undecorated_functions_are_put_in_place_wherever_that_is_safe(tmp_path):
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "kinds.py").write_text(
        "import functools\n"
        "from natif.types import TensorF32Cpu1D\n\n"
        "def plain(x: TensorF32Cpu1D) -> TensorF32Cpu1D:\n    return x\n\n"
        "class Holder:\n"
        "    def method(x: TensorF32Cpu1D) -> TensorF32Cpu1D:\n        return x\n\n"
        "@functools.cache\n"
        "def wrapped(x: TensorF32Cpu1D) -> TensorF32Cpu1D:\n    return x\n\n"
        "def make():\n"
        "    def inner(x: TensorF32Cpu1D) -> TensorF32Cpu1D:\n        return x\n"
        "    return inner\n\n"
        "def globals(x: TensorF32Cpu1D) -> TensorF32Cpu1D:\n    return x\n\n"
        "def twice(x: TensorF32Cpu1D) -> TensorF32Cpu1D:\n    return x\n\n"
        "twice = functools.partial(twice)  # no end of line"
    )
    result = build(package, out=tmp_path / "dist", target="x86-64-v3")
    assert result.native == ("pkg.kinds:plain", "pkg.kinds:Holder.method", "pkg.kinds:globals", "pkg.kinds:twice")
    assert [line.partition(": ")[2].partition(":")[0] for line in result.python] == ["wrapped", "make.<locals>.inner"]
    ast.parse((tmp_path / "dist" / "pkg" / "kinds.py").read_text())
    code = (
        "from pkg import kinds as k\n"
        "functions = k.plain, k.Holder.method, k.wrapped, k.make(), k.globals, k.twice\n"
        "print([getattr(function, 'is_native', None) for function in functions], hasattr(k, '_natif_attach'))"
    )
    assert run(code, tmp_path / "dist") == "[True, True, None, None, True, None] False\n"


def test_the_backend_builds_sdists_wheels_and_metadata(tmp_path, monkeypatch):
    from natif import buildapi

    project = tmp_path / "project"
    shutil.copytree(SHOP, project, ignore=shutil.ignore_patterns("__pycache__", "scoring.py", "demo.py", "ranking", "features.py"))
    text = (project / "pyproject.toml").read_text()
    (project / "pyproject.toml").write_text(text[: text.index("require =")])
    monkeypatch.chdir(project)
    assert buildapi.get_requires_for_build_wheel() == []
    names = [buildapi.build_sdist(str(tmp_path)) for _ in range(2)]
    assert names == ["natif_example_shop-1.2.0.tar.gz"] * 2
    first = (tmp_path / names[0]).read_bytes()
    buildapi.build_sdist(str(tmp_path))
    assert (tmp_path / names[0]).read_bytes() == first
    with tarfile.open(tmp_path / names[0]) as packed:
        listed = packed.getnames()
        assert {"natif_example_shop-1.2.0/" + name for name in ("pyproject.toml", "PKG-INFO", "README.md", "src/shop/pricing.py")} <= set(
            listed
        )
        packed.extractall(tmp_path / "unpacked", filter="data")
    monkeypatch.chdir(tmp_path / "unpacked" / "natif_example_shop-1.2.0")
    wheel = buildapi.build_wheel(str(tmp_path), {"target": "x86-64-v3", "jobs": "2"})
    assert wheel == "natif_example_shop-1.2.0-py3-none-linux_x86_64.whl"
    folder = buildapi.prepare_metadata_for_build_wheel(str(tmp_path))
    assert (tmp_path / folder / "METADATA").read_bytes() == zipfile.ZipFile(tmp_path / wheel).read(f"{folder}/METADATA")
    with pytest.raises(ConfigurationError, match="there is no config setting 'targett'"):
        buildapi.build_wheel(str(tmp_path), {"targett": "native"})


def test_an_editable_installation_runs_the_sources(installed, tmp_path):
    project = tmp_path / "project"
    (project / "src" / "ed").mkdir(parents=True)
    backend = '[build-system]\nrequires = ["natif"]\nbuild-backend = "natif.buildapi"\n'
    (project / "pyproject.toml").write_text(backend + '[project]\nname = "ed"\nversion = "1"\n')
    source = "from natif.types import TensorF32Cpu1D\n\n\ndef same(x: TensorF32Cpu1D) -> TensorF32Cpu1D:\n    return x\n"
    (project / "src" / "ed" / "__init__.py").write_text(source)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", installed.python, "install", "--no-index", "--quiet"]
    done = subprocess.run([*pip, "--no-build-isolation", "--editable", project], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    code = "import sys; early = 'natif' in sys.modules; import ed; print(early, ed.same.is_native, ed.__file__)"
    done = subprocess.run([installed.python, "-c", code], capture_output=True, text=True, cwd="/", check=False)
    assert done.stdout == f"False True {project}/src/ed/__init__.py\n", done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[project]\nname = 'a b'\nversion = '1'\n", "[project] name can't name a wheel"),
        ("[project]\nname = 'a'\n", '[project] version is missing; write version = "…", or dynamic = ["version"]'),
        ("[project]\nname = 'a'\nversion = 'one'\n", "[project] version: 'one' is no version"),
        ("[project]\nname = 'a'\nversion = '1'\nreadme = 'gone.md'\n", "[project] readme: gone.md can't be read"),
        ("[project]\nname = 'a'\nversion = '1'\ndependencies = 'numpy'\n", "[project] dependencies: it is a list of strings"),
        ("[project]\nname = 'a'\nversion = '1'\ndescription = \"x\\ny\"\n", "[project] summary: it has a line break"),
        ("[project]\nname = 'a'\nversion = '1'\ndynamic = ['readme']\n", "[project] dynamic: natif finds only the version by itself"),
    ],
)
def test_a_project_table_that_is_wrong_is_said_so(tmp_path, text, message):
    (tmp_path / "pyproject.toml").write_text(text)
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("")
    with pytest.raises(ConfigurationError) as caught:
        build(tmp_path, out=tmp_path / "dist")
    assert message in str(caught.value)
    assert not (tmp_path / "dist" / "pkg").exists()


def test_metadata_of_people_extras_and_dynamic_versions(tmp_path):
    from natif.packaging import metadata, project

    (tmp_path / "pyproject.toml").write_text(
        "[project]\nname = 'My.App'\ndynamic = ['version']\nauthors = [{name = 'A'}, {name = 'B', email = 'b@c.d'}]\n"
        "keywords = ['x', 'y']\nurls = {Home = 'https://example.org'}\ndependencies = ['natif', 'numpy>=1']\nlicense = {text = 'MIT'}\n"
        "[project.optional-dependencies]\nplot = ['matplotlib; python_version < \"4\"']\n[tool.natif]\nversion-file = 'pkg/about.py'\n"
    )
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("")
    (tmp_path / "pkg" / "about.py").write_text('__version__ = "2.0rc1"\n')
    (tmp_path / "LICENSE").write_text("free")
    found = project.find([tmp_path], config.load(tmp_path))
    assert metadata.metadata(found).splitlines() == [
        "Metadata-Version: 2.4",
        "Name: My.App",
        "Version: 2.0rc1",
        "License: MIT",
        "License-File: LICENSE",
        "Author: A",
        "Author-email: B <b@c.d>",
        "Keywords: x,y",
        "Project-URL: Home, https://example.org",
        "Requires-Dist: numpy>=1",
        "Requires-Dist: natif>=0.1,<0.2",
        "Provides-Extra: plot",
        "Requires-Dist: matplotlib ; (python_version < \"4\") and extra == 'plot'",
    ]
    assert metadata.normalized("My.App") == "my_app"
