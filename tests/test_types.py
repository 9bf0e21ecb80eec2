"""The annotation markers: their content, equality, errors, pickling, and that importing them imports nothing heavy."""

import copy
import pickle
import subprocess
import sys
import typing

import pytest

from natif import types
from natif.types import Tensor, TensorBoolCpu6D, TensorF32Cpu0D, TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D

FAMILIES = {"F32": "float32", "F64": "float64", "I32": "int32", "I64": "int64", "Bool": "bool"}


@pytest.mark.parametrize("rank", range(7))
@pytest.mark.parametrize(("short", "dtype"), FAMILIES.items())
def test_each_named_marker_says_what_it_is(short, dtype, rank):
    name = f"Tensor{short}Cpu{rank}D"
    marker = getattr(types, name)
    assert isinstance(marker, type)
    assert (marker.dtype, marker.rank, marker.shape, marker.device) == (dtype, rank, (None,) * rank, "CPU")
    assert repr(marker) == marker.__name__ == name
    assert marker is Tensor[dtype, rank]


def test_the_general_form_carries_its_shape():
    marker = Tensor["float32", ("batch", 32)]
    assert (marker.dtype, marker.rank, marker.shape) == ("float32", 2, ("batch", 32))
    assert repr(marker) == "Tensor['float32', ('batch', 32)]"
    assert Tensor["float32", ()] is TensorF32Cpu0D
    assert Tensor["int64", (None,)] is TensorI64Cpu1D


def test_markers_are_equal_by_content():
    assert Tensor["float32", ("batch", 32)] == Tensor["float32", ("batch", 32)]
    assert hash(Tensor["float32", ("batch", 32)]) == hash(Tensor["float32", ("batch", 32)])
    different = [
        TensorF32Cpu1D,
        TensorF32Cpu2D,
        Tensor["float64", 2],
        Tensor["float32", ("batch", 32)],
        Tensor["float32", ("n", 32)],
        Tensor,
    ]
    assert len(set(different)) == len(different)
    assert TensorF32Cpu2D != "TensorF32Cpu2D"


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("marker", [Tensor, TensorF32Cpu2D, TensorBoolCpu6D, Tensor["float32", ("batch", 32)]])
def test_markers_pickle_and_copy_to_themselves(marker, protocol):
    assert pickle.loads(pickle.dumps(marker, protocol)) is marker
    assert copy.deepcopy(marker) is marker


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        ("float32", TypeError, "takes a dtype and a rank or shape"),
        (("float32", 1, 2), TypeError, "takes a dtype and a rank or shape"),
        ((32, 2), TypeError, "a dtype is written as a string"),
        (("float16", 2), ValueError, "unknown dtype 'float16'; natif has float32, float64, int32, int64, bool"),
        (("float32", -1), ValueError, "a rank is from 0 to 8, not -1"),
        (("float32", 9), ValueError, "a rank is from 0 to 8, not 9"),
        (("float32", (1,) * 9), ValueError, "at most 8 axes"),
        (("float32", True), TypeError, "a rank is an int and a shape a tuple"),
        (("float32", [1, 2]), TypeError, "a rank is an int and a shape a tuple"),
        (("float32", (1.5,)), TypeError, "a size is an int, a name or None, not 1.5"),
        (("float32", (True,)), TypeError, "a size is an int, a name or None, not True"),
        (("float32", (-1,)), ValueError, "a size is not negative, so not -1"),
        (("float32", ("a b",)), ValueError, "a size's name is an identifier, not 'a b'"),
    ],
)
def test_a_wrong_form_says_what_is_wrong(content, error, message):
    with pytest.raises(error, match="^natif: ") as caught:
        Tensor[content]
    assert message in str(caught.value)


def test_markers_have_no_instances():
    with pytest.raises(TypeError, match="natif: TensorF32Cpu2D is an annotation"):
        TensorF32Cpu2D()
    with pytest.raises(TypeError, match="natif: TensorF32Cpu2D is an annotation"):
        isinstance(1, TensorF32Cpu2D)
    with pytest.raises(TypeError, match="can't be subscripted"):
        TensorF32Cpu2D["float32", 2]


def quoted(
    x: "TensorF32Cpu2D",
    y: "Tensor['float32', ('batch', 32)]",  # noqa: F821
    z: typing.Annotated[TensorF32Cpu1D, "weights"],
) -> "TensorI64Cpu1D":
    raise NotImplementedError


def test_quoted_and_annotated_annotations_resolve():
    assert typing.get_type_hints(quoted) == {
        "x": TensorF32Cpu2D,
        "y": Tensor["float32", ("batch", 32)],
        "z": TensorF32Cpu1D,
        "return": TensorI64Cpu1D,
    }
    assert typing.get_type_hints(quoted, include_extras=True)["z"] == typing.Annotated[TensorF32Cpu1D, "weights"]


def test_importing_the_markers_imports_nothing_heavy():
    script = "import sys, natif.types; print([m for m in ('tensorflow', 'numpy', 'natif._compiler', 'subprocess') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_stub_names_every_marker():
    import ast
    from pathlib import Path

    stub = ast.parse(Path(types.__file__).with_suffix(".pyi").read_text())
    declared = {node.target.id for node in stub.body if isinstance(node, ast.AnnAssign)} - {"DTYPES", "MAX_RANK"}
    assert declared == {name for name in vars(types) if name.startswith("Tensor") and name not in ("Tensor", "TensorType")}
