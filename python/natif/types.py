"""The annotations that make a function typed: `TensorF32Cpu2D` and its family, and the general `Tensor["float32", ("batch", 32)]`.

A marker is a class that is only ever an annotation: it says which tensors a parameter takes or a result is, and holds no data.

    TensorF32Cpu2D                      a rank-2 float32 tensor on the CPU, of any size
    Tensor["float32", 2]                the same: markers of equal content are equal
    Tensor["float32", ("batch", 32)]    its second size is 32; the parameters' sizes named "batch" are the same in each call
    Tensor["int64", (None,)]            None is a free size without a name

Native calls check dtype, rank, device and sizes of what they are given, and raise ValueError where one is another. In the annotation of a
result, and where a native function calls another, a name of a size is for the reader alone.

Every marker carries `dtype` (TensorFlow's name), `rank`, `shape` (one entry for each axis: an int, a str or None) and `device` ("CPU").
Importing this module imports neither TensorFlow nor NumPy nor the compiler.
"""

import copyreg

DTYPES = ("float32", "float64", "int32", "int64", "bool")
MAX_RANK = 8

_SHORT_NAMES = {"float32": "F32", "float64": "F64", "int32": "I32", "int64": "I64", "bool": "Bool"}
_NAMED_RANKS = 6


class TensorType(type):
    """The class of the markers: gives them their attributes, equality by content, and subscription of `Tensor` alone."""

    dtype: str
    rank: int
    shape: tuple[int | str | None, ...]
    device: str

    def __getitem__(cls, content: object) -> "TensorType":
        """`Tensor[dtype, rank]` or `Tensor[dtype, shape]`; TypeError or ValueError where that names no tensor type."""
        if cls is not Tensor:
            raise TypeError(f"natif: {cls.__name__} can't be subscripted; write Tensor[dtype, shape]")
        if not isinstance(content, tuple) or len(content) != 2:
            raise TypeError('natif: Tensor takes a dtype and a rank or shape, such as Tensor["float32", ("batch", 32)]')
        dtype, dims = content
        return _marker(_checked_dtype(dtype), _checked_shape(dims))

    def __eq__(cls, other: object) -> bool:
        if not isinstance(other, TensorType):
            return NotImplemented
        return cls is other or (cls._content() is not None and cls._content() == other._content())

    def __hash__(cls) -> int:
        return hash(cls._content())

    def __repr__(cls) -> str:
        return cls.__name__ if cls is not Tensor else "natif.types.Tensor"

    def __call__(cls, *args: object, **kwargs: object) -> object:
        """Refuses: a marker has no instances."""
        raise TypeError(f"natif: {cls.__name__} is an annotation and has no instances")

    def __instancecheck__(cls, instance: object) -> bool:
        raise TypeError(f"natif: {cls.__name__} is an annotation and has no instances; ask the tensor for its dtype and shape")

    def _content(cls) -> tuple[str, tuple[int | str | None, ...], str] | None:
        return None if cls is Tensor else (cls.dtype, cls.shape, cls.device)


class Tensor(metaclass=TensorType):
    """The general marker: `Tensor[dtype, rank]` or `Tensor[dtype, shape]`."""

    __slots__ = ()


def _checked_dtype(dtype: object) -> str:
    if not isinstance(dtype, str):
        raise TypeError(f'natif: a dtype is written as a string, such as "float32", not {dtype!r}')
    if dtype not in DTYPES:
        raise ValueError(f"natif: unknown dtype {dtype!r}; natif has {', '.join(DTYPES)}")
    return dtype


def _checked_shape(dims: object) -> tuple[int | str | None, ...]:
    if isinstance(dims, int) and not isinstance(dims, bool):
        if not 0 <= dims <= MAX_RANK:
            raise ValueError(f"natif: a rank is from 0 to {MAX_RANK}, not {dims}")
        return (None,) * dims
    if not isinstance(dims, tuple):
        raise TypeError(f"natif: a rank is an int and a shape a tuple, not {dims!r}")
    if len(dims) > MAX_RANK:
        raise ValueError(f"natif: a shape has at most {MAX_RANK} axes, not {len(dims)}")
    for size in dims:
        if isinstance(size, bool) or not (size is None or isinstance(size, int | str)):
            raise TypeError(f"natif: a size is an int, a name or None, not {size!r}")
        if isinstance(size, int) and size < 0:
            raise ValueError(f"natif: a size is not negative, so not {size}; a free size is None or a name")
        if isinstance(size, str) and not size.isidentifier():
            raise ValueError(f"natif: a size's name is an identifier, not {size!r}")
    return dims


_markers: dict[tuple[str, tuple[int | str | None, ...]], TensorType] = {}


def _marker(dtype: str, shape: tuple[int | str | None, ...]) -> TensorType:
    """The one marker of this content. A free shape of a rank that has a name gets that name."""
    marker = _markers.get((dtype, shape))
    if marker is None:
        rank = len(shape)
        named = rank <= _NAMED_RANKS and shape == (None,) * rank
        name = f"Tensor{_SHORT_NAMES[dtype]}Cpu{rank}D" if named else f"Tensor[{dtype!r}, {shape!r}]"
        content = {"__slots__": (), "__module__": __name__, "dtype": dtype, "rank": rank, "shape": shape, "device": "CPU"}
        marker = _markers[dtype, shape] = TensorType(name, (Tensor,), content)
    return marker


def _reduced(marker: TensorType) -> object:
    return "Tensor" if marker is Tensor else (_marker, (marker.dtype, marker.shape))


copyreg.pickle(TensorType, _reduced)  # type: ignore[arg-type]

TensorF32Cpu0D, TensorF32Cpu1D, TensorF32Cpu2D, TensorF32Cpu3D, TensorF32Cpu4D, TensorF32Cpu5D, TensorF32Cpu6D = (
    Tensor["float32", rank] for rank in range(_NAMED_RANKS + 1)
)
TensorF64Cpu0D, TensorF64Cpu1D, TensorF64Cpu2D, TensorF64Cpu3D, TensorF64Cpu4D, TensorF64Cpu5D, TensorF64Cpu6D = (
    Tensor["float64", rank] for rank in range(_NAMED_RANKS + 1)
)
TensorI32Cpu0D, TensorI32Cpu1D, TensorI32Cpu2D, TensorI32Cpu3D, TensorI32Cpu4D, TensorI32Cpu5D, TensorI32Cpu6D = (
    Tensor["int32", rank] for rank in range(_NAMED_RANKS + 1)
)
TensorI64Cpu0D, TensorI64Cpu1D, TensorI64Cpu2D, TensorI64Cpu3D, TensorI64Cpu4D, TensorI64Cpu5D, TensorI64Cpu6D = (
    Tensor["int64", rank] for rank in range(_NAMED_RANKS + 1)
)
TensorBoolCpu0D, TensorBoolCpu1D, TensorBoolCpu2D, TensorBoolCpu3D, TensorBoolCpu4D, TensorBoolCpu5D, TensorBoolCpu6D = (
    Tensor["bool", rank] for rank in range(_NAMED_RANKS + 1)
)
