"""The small programs of the public surface's tests: one function that is native, and one that has no kernel."""

HEAD = "import tensorflow as tf\nimport natif\nfrom natif.types import *\n"
RELU = """
@natif.native
def relu(x: TensorF32Cpu2D, s: float = 2.0) -> TensorF32Cpu2D:
    "The doc."
    return tf.nn.relu(x) * s
"""
COSINE = """
@natif.native
def cosine(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.cos(x)
"""
PROGRAM = HEAD + RELU + COSINE
