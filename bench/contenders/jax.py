"""JAX, jitted, the weights passed as device arrays; a call ends when its result is there."""

from __future__ import annotations

from typing import Any

from bench.case import Call, Case, Contender, NotAvailable


class JaxOps:
    """The vocabulary in jax.numpy and jax.nn."""

    def __init__(self) -> None:
        import jax

        numpy, nn = jax.numpy, jax.nn
        self.add, self.subtract, self.multiply, self.divide = numpy.add, numpy.subtract, numpy.multiply, numpy.divide
        self.matmul, self.bias_add = numpy.matmul, numpy.add
        self.relu, self.tanh, self.sigmoid = nn.relu, numpy.tanh, nn.sigmoid

    def softmax(self, a: Any) -> Any:
        import jax

        return jax.nn.softmax(a, axis=-1)

    def argmax(self, a: Any) -> Any:
        import jax

        return jax.numpy.argmax(a, axis=-1)


class Entrant(Contender):
    name = "jax"
    label = "JAX (jit)"

    def require(self) -> None:
        try:
            import jax
        except ImportError as error:
            raise NotAvailable(f"jax can't be imported: {error}") from error
        jax.config.update("jax_platforms", "cpu")

    def prepare(self, case: Case, witness: bool = False) -> Call:
        import jax

        ops, expression, names = JaxOps(), case.expression(witness), list(case.tensors)
        jitted = jax.jit(lambda *arrays: expression(ops, dict(zip(names, arrays, strict=True))))
        arrays = [jax.device_put(array) for array in case.tensors.values()]
        return lambda: jitted(*arrays).block_until_ready()
