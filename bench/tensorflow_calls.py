"""What the contenders that run in TensorFlow share: the arguments as TensorFlow tensors, the thread setting, results as NumPy arrays."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from bench.case import Array, Case, Contender


@cache
def set_threads(threads: int) -> None:
    """Sets TensorFlow's thread pools for this process; before its eager context exists, so once. 0 leaves TensorFlow's default."""
    import tensorflow as tf

    if threads:
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(threads)


class TensorFlowContender(Contender):
    """A contender that takes EagerTensors and returns one."""

    def require(self) -> None:
        set_threads(self.threads)

    def arguments(self, case: Case) -> list[Any]:
        """The function's arguments in order: tensors, then scalars."""
        import tensorflow as tf

        return [*map(tf.constant, case.tensors.values()), *case.scalars.values()]

    def value(self, result: Any) -> Array:
        return result.numpy() if hasattr(result, "numpy") else np.asarray(result)
