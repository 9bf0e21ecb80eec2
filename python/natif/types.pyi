"""What a type checker sees of natif.types: an annotated tensor is used as the `tf.Tensor` that it is, so every marker is Any to it."""

from typing import Any, Final, TypeAlias

DTYPES: Final[tuple[str, ...]]
MAX_RANK: Final[int]

class TensorType(type):
    dtype: str
    rank: int
    shape: tuple[int | str | None, ...]
    device: str
    def __getitem__(cls, content: tuple[str, int | tuple[int | str | None, ...]]) -> TensorType: ...

class Tensor(metaclass=TensorType): ...

TensorF32Cpu0D: TypeAlias = Any
TensorF32Cpu1D: TypeAlias = Any
TensorF32Cpu2D: TypeAlias = Any
TensorF32Cpu3D: TypeAlias = Any
TensorF32Cpu4D: TypeAlias = Any
TensorF32Cpu5D: TypeAlias = Any
TensorF32Cpu6D: TypeAlias = Any
TensorF64Cpu0D: TypeAlias = Any
TensorF64Cpu1D: TypeAlias = Any
TensorF64Cpu2D: TypeAlias = Any
TensorF64Cpu3D: TypeAlias = Any
TensorF64Cpu4D: TypeAlias = Any
TensorF64Cpu5D: TypeAlias = Any
TensorF64Cpu6D: TypeAlias = Any
TensorI32Cpu0D: TypeAlias = Any
TensorI32Cpu1D: TypeAlias = Any
TensorI32Cpu2D: TypeAlias = Any
TensorI32Cpu3D: TypeAlias = Any
TensorI32Cpu4D: TypeAlias = Any
TensorI32Cpu5D: TypeAlias = Any
TensorI32Cpu6D: TypeAlias = Any
TensorI64Cpu0D: TypeAlias = Any
TensorI64Cpu1D: TypeAlias = Any
TensorI64Cpu2D: TypeAlias = Any
TensorI64Cpu3D: TypeAlias = Any
TensorI64Cpu4D: TypeAlias = Any
TensorI64Cpu5D: TypeAlias = Any
TensorI64Cpu6D: TypeAlias = Any
TensorBoolCpu0D: TypeAlias = Any
TensorBoolCpu1D: TypeAlias = Any
TensorBoolCpu2D: TypeAlias = Any
TensorBoolCpu3D: TypeAlias = Any
TensorBoolCpu4D: TypeAlias = Any
TensorBoolCpu5D: TypeAlias = Any
TensorBoolCpu6D: TypeAlias = Any
