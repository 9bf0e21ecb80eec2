"""One op on eight floats: all cost is the way in and out."""

from natif.types import TensorF32Cpu1D


def tiny_op(a: TensorF32Cpu1D, b: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return a + b
