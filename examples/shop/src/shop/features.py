"""From raw columns to features."""

import tensorflow as tf

import natif
from natif.types import TensorF32Cpu1D, TensorF32Cpu2D


@natif.native
def standardise(x: TensorF32Cpu2D, mean: TensorF32Cpu1D, scale: TensorF32Cpu1D) -> TensorF32Cpu2D:
    """Each column with its mean at 0 and its scale at 1."""
    return (x - mean) / scale


@natif.native(on_mismatch="fallback")
def squashed(x: TensorF32Cpu2D, limit: float = 3.0) -> TensorF32Cpu2D:
    """Softly limits outliers to ±limit; takes arrays too, in Python."""
    return tf.tanh(x / limit) * limit
