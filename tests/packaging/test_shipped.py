"""A built package where it is used: its own tests under every mode and after every kind of damage, and how it loads and refuses."""

import json
import os
import platform
import shutil
import struct
import subprocess
import sys
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest
from sample import SHOP, change_manifest

HERE = Path(__file__).parent

IMPORT = "import shop.pricing as p; print(p.discounted.is_native, p.discounted.python(2.0, 13, rate=0.5))"


def remove(package):
    (package / "_natif" / "shop.pricing.so").unlink()


def flip_a_byte(package):
    file = package / "_natif" / "shop.pricing.so"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def truncate(package):
    file = package / "_natif" / "shop.pricing.so"
    file.write_bytes(file.read_bytes()[:1000])


def exchange(package):
    shutil.copy(package / "_natif" / "shop.features.so", package / "_natif" / "shop.pricing.so")


def lack_a_feature(package):
    change_manifest(package, lambda manifest: manifest.update(features=["sse9"]))


def come_from_elsewhere(package):
    change_manifest(package, lambda manifest: manifest.update(machine="riscv64"))


def be_of_another_abi(package):
    """An artifact that says so itself, under a manifest that vouches for it."""
    file = package / "_natif" / "shop.pricing.so"
    content = file.read_bytes()
    at = find_header(content)
    file.write_bytes(content[:at] + struct.pack("<I", 99) + content[at + 4 :])
    vouch(package)


def find_header(content):
    """Where the symbol natif_module points to: abi_version is its first field."""
    offset, entry_size, count = (*struct.unpack_from("<Q", content, 0x28), *struct.unpack_from("<HH", content, 0x3A))
    sections = [struct.unpack_from("<IIQQQQIIQQ", content, offset + index * entry_size) for index in range(count)]
    symbols = next(section for section in sections if section[1] == 11)
    strings = sections[symbols[6]][4]
    for at in range(symbols[4], symbols[4] + symbols[5], 24):
        name, _, _, _, address, _ = struct.unpack_from("<IBBHQQ", content, at)
        if content[strings + name :].startswith(b"natif_module\0"):
            section = next(each for each in sections if each[3] <= address < each[3] + each[5])
            return section[4] + address - section[3]
    raise AssertionError("no natif_module")


def vouch(package):
    digest = sha256((package / "_natif" / "shop.pricing.so").read_bytes()).hexdigest()
    change_manifest(package, lambda manifest: manifest["modules"]["shop.pricing"]["artifact"].update(sha256=digest))


def be_no_artifact(package):
    (package / "_natif" / "shop.pricing.so").write_bytes(b"\x7fELF nothing")
    vouch(package)


def point_outside(package):
    change_manifest(package, lambda manifest: manifest["modules"]["shop.pricing"]["artifact"].update(file="../../evil.so"))


def lose_the_manifest(package):
    (package / "_natif" / "manifest.json").unlink()


def damage_the_manifest(package):
    (package / "_natif" / "manifest.json").write_bytes(b'{"format": 1, "modu')


def be_of_the_future(package):
    change_manifest(package, lambda manifest: manifest.update(format=2))


def lose_a_key(package):
    change_manifest(package, lambda manifest: manifest["modules"]["shop.pricing"].pop("sha256"))


def edit_the_source(package):
    with (package / "pricing.py").open("a") as file:
        file.write("\n# edited\n")


DAMAGE = {
    remove: "shop.pricing.so is missing; install the package again",
    flip_a_byte: "shop.pricing.so is damaged: it is not the file that its manifest names; install the package again",
    truncate: "shop.pricing.so is damaged: it is not the file that its manifest names; install the package again",
    exchange: "shop.pricing.so is damaged: it is not the file that its manifest names; install the package again",
    lack_a_feature: "the package was built for a processor with sse9, which this one lacks; build it here, or with --target portable",
    come_from_elsewhere: f"the package was built for riscv64, this machine is {platform.machine()}; install the wheel for it or build it",
    be_of_another_abi: "is of ABI version 99, this natif runs version 1; build it again",
    be_no_artifact: "cannot be loaded: ",
    point_outside: "manifest.json names an artifact outside its folder; install the package again",
    lose_the_manifest: "manifest.json is missing; install the package again",
    damage_the_manifest: "manifest.json is damaged; install the package again",
    be_of_the_future: "is of a format that this natif doesn't know; upgrade natif or build the package again",
    lose_a_key: "manifest.json is damaged; install the package again",
    edit_the_source: "pricing.py) has changed since it was built; build the package again",
}


@pytest.fixture(scope="module")
def outcomes(installed, tmp_path_factory):
    """What became of the sample project's own tests in each scenario."""
    kinds = [remove, flip_a_byte, lack_a_feature, be_of_another_abi, lose_the_manifest, edit_the_source]
    scenarios = [{"name": mode, "path": str(installed.site), "mode": mode} for mode in ("native", "python", "auto")]
    for damage in kinds:
        folder = tmp_path_factory.mktemp(damage.__name__)
        shutil.copytree(installed.shop, folder / "shop", ignore=shutil.ignore_patterns("__pycache__"))
        damage(folder / "shop")
        scenarios.append({"name": damage.__name__, "path": str(folder), "mode": "auto"})
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NATIF_") and name != "PYTHONPATH"}
    done = subprocess.run(
        [installed.python, HERE / "scenarios.py", SHOP / "tests"],
        input=json.dumps(scenarios),
        capture_output=True,
        text=True,
        env=environment,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


@pytest.mark.parametrize("mode", ["native", "python", "auto"])
def test_the_packages_own_tests_pass(outcomes, mode):
    results, said = outcomes
    assert results[mode] == {"code": 0, "warnings": []}, said


@pytest.mark.parametrize("damage", [remove, flip_a_byte, be_of_another_abi, edit_the_source], ids=lambda damage: damage.__name__)
def test_the_packages_own_tests_pass_after_damage_to_one_artifact(outcomes, damage):
    results, said = outcomes
    assert results[damage.__name__]["code"] == 0, said
    (warning,) = results[damage.__name__]["warnings"]
    assert DAMAGE[damage] in warning
    assert warning.endswith("; the functions of shop.pricing run in Python")


@pytest.mark.parametrize("damage", [lack_a_feature, lose_the_manifest], ids=lambda damage: damage.__name__)
def test_the_packages_own_tests_pass_after_damage_to_the_whole(outcomes, damage):
    results, said = outcomes
    assert results[damage.__name__]["code"] == 0, said
    assert results[damage.__name__]["warnings"]
    assert all(DAMAGE[damage] in warning for warning in results[damage.__name__]["warnings"])


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
def test_damage_is_a_warning_or_under_native_an_error(run, copy, damage):
    damage(copy)
    quiet = run(IMPORT, path=[copy.parent])
    assert (quiet.returncode, quiet.stdout) == (0, "False 25.0\n"), quiet.stderr
    assert quiet.stderr.count("RuntimeWarning: natif: ") == 1
    assert DAMAGE[damage] in quiet.stderr
    strict = run(IMPORT, path=[copy.parent], NATIF_MODE="native")
    assert strict.returncode == 1
    assert strict.stderr.splitlines()[-1].startswith("natif.errors.CompileError: natif: ")
    assert DAMAGE[damage] in strict.stderr
    python = run(IMPORT, path=[copy.parent], NATIF_MODE="python")
    assert (python.returncode, python.stdout, python.stderr) == (0, "False 25.0\n", "")


def test_a_whole_package_is_native_without_any_compiler(run):
    code = (
        "import sys, shop.pricing as p\n"
        "print({'natif._compiler', 'natif.source', 'natif.cache', 'tensorflow', 'numpy', 'subprocess'} & set(sys.modules))\n"
        "import shop.scoring, shop.demo; x = shop.scoring.tf.ones([3, 6])\n"
        "print(p.discounted(2.0, 13, rate=0.5), shop.scoring.chosen(x, *shop.demo.weights()).shape)\n"
        "print(p.discounted.calls['native'], shop.scoring.chosen.calls, 'natif._compiler' in sys.modules)\n"
    )
    done = run(code, NATIF_MODE="native", PATH="", NATIF_CXX="/nonexistent")
    assert done.stdout.splitlines() == ["set()", "25.0 (3,)", "1 {'native': 1, 'python': {}} False"], done.stderr


def test_bound_functions_of_a_package_run_its_code_for_any_size(run):
    code = (
        "import pickle, sys, shop.scoring as s, shop.demo; x = s.tf.ones([3, 6]); names = s.chosen.python.__code__.co_varnames[1:]\n"
        "bound = s.chosen.bind(**dict(zip(names, shop.demo.weights())))\n"
        "print(bound(x).shape, pickle.loads(pickle.dumps(bound))(x).shape, bound.calls, 'natif._compiler' in sys.modules)\n"
        "print(bound.source('plan').splitlines()[0], bound.report.functions[0].bound, sep='\\n')\n"
    )
    done = run(code, NATIF_MODE="native", PATH="", NATIF_CXX="/nonexistent")
    what = "code for any size, since it was built ahead of time"
    assert done.stdout.splitlines() == ["(3,) (3,) {'native': 1, 'python': {}} False", f"bound: {what}", what], done.stderr


def test_an_unknown_mode_is_a_warning_then_auto(run):
    done = run(IMPORT, NATIF_MODE="fast")
    assert (done.returncode, done.stdout) == (0, "True 25.0\n")
    assert (
        "RuntimeWarning: natif: NATIF_MODE is 'fast', which is none of auto, native and python; natif goes on as with auto" in done.stderr
    )


def test_functions_of_numbers_work_where_tensorflow_is_not_installed(run):
    code = (
        "import sys, importlib.abc\n"
        "class Absent(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in ('tensorflow', 'numpy'): raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "import shop.pricing, shop.text, shop\n"
        "print(shop.pricing.discounted(2.0, 13, rate=0.5), shop.text.words('A b'))\n"
    )
    done = run(code)
    assert (done.returncode, done.stdout) == (0, "25.0 ['a', 'b']\n"), done.stderr


def test_the_sources_in_an_archive_run_in_python(run, installed, tmp_path):
    archive = tmp_path / "shop.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for file in installed.shop.rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts:
                packed.write(file, file.relative_to(installed.site))
    code = "import shop.pricing as p; print(p.__file__.startswith(__import__('sys').argv[1]), p.discounted.is_native, p.discounted(2.0, 3))"
    done = run(code, archive, path=[archive])
    assert (done.returncode, done.stdout) == (0, "True False 6.0\n"), done.stderr
    assert "lies in an archive, from which no code can be loaded; install the package as a wheel" in done.stderr
    plain = tmp_path / "plain.zip"
    with zipfile.ZipFile(plain, "w") as packed:
        packed.write(SHOP / "src" / "shop" / "text.py", "words/text.py")
        packed.writestr("words/__init__.py", "")
    done = run("from words import text; print(text.words('Ab'))", path=[plain])
    assert (done.returncode, done.stdout, done.stderr) == (0, "['ab']\n", "")


def test_a_frozen_folder_without_sources_is_native(run, copy):
    subprocess.run([sys.executable, "-m", "compileall", "-q", "-b", copy], check=True)
    for source in copy.rglob("*.py"):
        source.unlink()
    for folder in (copy / "_natif", copy):
        folder.chmod(0o500)
    try:
        done = run(IMPORT, path=[copy.parent], NATIF_MODE="native")
    finally:
        for folder in (copy, copy / "_natif"):
            folder.chmod(0o700)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True 25.0\n", "")


def test_functions_reach_spawned_and_forked_processes(run, tmp_path):
    """That they run in forked ones, test_the_packages_own_tests_pass shows: each scenario is one."""
    file = tmp_path / "pools.py"
    file.write_text(
        "import multiprocessing, shop.pricing\n"
        "def native(function): return function.is_native\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('fork').Pool(1) as pool:\n"
        "        print('fork', pool.apply(native, (shop.pricing.discounted,)))\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        print('spawn', pool.apply(native, (shop.pricing.discounted,)), pool.apply(shop.pricing.discounted, (2.0, 3)))\n"
    )
    done = run(f"import runpy, sys; sys.argv[0] = {str(file)!r}; runpy.run_path({str(file)!r}, run_name='__main__')", NATIF_MODE="native")
    assert done.stdout == "fork True\nspawn True 6.0\n", done.stderr


def test_the_selftest_compares_every_function(run):
    done = run("import runpy; runpy.run_module('shop.natif_selftest', run_name='__main__')")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert [line.partition(": ")[0] for line in lines] == [
        "shop.features:squashed",
        "shop.features:standardise",
        "shop.pricing:discounted",
        "shop.ranking.blend:blended",
        "shop.scoring:chosen",
        "shop.scoring:logits",
        "shop.scoring:probabilities",
    ]
    assert all(line.endswith(": ok, 4 inputs") for line in lines)


def test_the_selftest_allows_fast_code_its_nan_on_special_values_alone():
    import numpy as np
    import tensorflow as tf

    from natif import selftest

    def agree(native, eager, numerics="fast", special=True):
        return selftest.agree(("value", (tf.constant(native),)), ("value", (tf.constant(eager),)), numerics, special)

    nan, partly = np.float32([np.nan, np.nan, 1]), np.float32([0, np.nan, 1])
    assert agree(nan, partly)
    assert agree(np.int64([0]), np.int64([1]))
    assert not agree(partly, nan)
    assert not agree(nan, np.float32([0, np.nan, 1.5]))
    assert not agree(nan, partly[:2])
    assert not agree(nan, partly, special=False)
    assert not agree(nan, partly, numerics="exact")
    assert not agree(np.int64([0]), np.int64([1]), special=False)


def test_the_selftest_fails_where_code_differs_or_is_not_native():
    from natif import selftest

    class Function:
        is_native = True

        def __init__(self, value):
            self.value = value
            self.calls = {"native": 0, "python": {}}

        def __call__(self, x):
            self.calls["native"] += 1
            return self.value

        python = staticmethod(lambda x: 1.0)

    module = type(sys)("selftest_subject")
    module.same, module.other, module.left = Function(1.0), Function(1.5), Function.python
    sys.modules["selftest_subject"] = module
    try:
        case = {"size": 1, "seed": 1, "special": False}
        described = {"parameters": [{"name": "x", "kind": "int", "hidden": False}], "cases": [case], "numerics": "exact"}
        assert selftest.test_function("selftest_subject", "same", described) == "ok, 1 input"
        assert selftest.test_function("selftest_subject", "other", described) == "FAILED: for size 1, seed 1 native code and eager differ"
        assert selftest.test_function("selftest_subject", "left", described).startswith("FAILED: it is not native")
        assert selftest.test_function("selftest_subject", "gone", described).startswith("FAILED: it can't be imported")
    finally:
        del sys.modules["selftest_subject"]
