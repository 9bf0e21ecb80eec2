"""bind(): what a bound function captures, and how it is pickled.

Tensors are captured as they are, numbers too. A Variable is read once, when it is bound: assigning to it later changes nothing here.
"""

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from natif.options import Options


def bound_function(function: Any, name: str, values: Mapping[str, Any], provider: Callable[[dict[str, Any]], Any]) -> Any:
    """The NativeFunction that always passes these values, and those that `function` had bound before. TypeError as captured() says.

    `name` is the function's in the artifact, `provider` gives what natif._runtime asks, from all the bound values.
    """
    from natif import _runtime

    earlier = function.options.get("bound") or {}
    bound = {**earlier, **captured(function.python, earlier, values)}
    origin = function.options.get("origin") or Origin(function)
    return _runtime.NativeFunction(function.python, provider(bound), name, {**function.options, "bound": bound, "origin": origin})


def captured(python: Any, earlier: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values as they are bound. TypeError for a name that is no parameter or is bound already, and for what is neither tensor, Variable
    nor number.
    """
    import inspect

    name_of_function = python.__qualname__
    parameters = inspect.signature(python).parameters
    for name in values:
        if name in earlier:
            raise TypeError(f"natif: the parameter {name!r} of {name_of_function}() is bound already")
        if name not in parameters or parameters[name].kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            raise TypeError(f"natif: {name_of_function}() has no parameter {name!r} to bind")
    return {name: _captured(f"the parameter {name!r} of {name_of_function}()", value) for name, value in values.items()}


def _captured(target: str, value: Any) -> Any:
    import numbers

    import numpy as np
    import tensorflow as tf

    if isinstance(value, (tf.Tensor, numbers.Real, np.bool_)):
        return value
    if isinstance(value, tf.Variable) or hasattr(value, "__tf_tensor__"):
        return tf.convert_to_tensor(value)
    raise TypeError(
        f"natif: expected a TensorFlow EagerTensor, a Variable or a number to bind as {target}, got {type(value).__name__}; "
        "make a tensor of it with tf.constant"
    )


def sizes_of(bound: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """The sizes of the bound tensors that have any, by parameter."""
    import tensorflow as tf

    tensors = {name: value for name, value in bound.items() if isinstance(value, tf.Tensor) and not tf.is_symbolic_tensor(value)}
    return {name: tuple(tensor.shape) for name, tensor in sorted(tensors.items()) if tensor.shape.rank}


class Origin:
    """The function that a bound one came from, pickled as its module, its qualified name and its options."""

    def __init__(self, function: Any):
        self.function = function

    def bind(self, **values: Any) -> Any:
        """function.bind(**values)."""
        return self.function.bind(**values)

    def __reduce__(self) -> tuple[Any, ...]:
        import pickle

        function = self.function
        python = getattr(function, "python", function)
        module, name = python.__module__, python.__qualname__
        try:
            found = _named(module, name)
        except (ImportError, AttributeError):
            found = None
        if getattr(found, "python", found) is not python:
            raise pickle.PicklingError(f"natif: can't pickle what bind() made of {name}: it is not found as {module}.{name}")
        held = getattr(function, "options", {})
        return restored, (module, name, {option: held[option] for option in Options.__dataclass_fields__ if option in held})


def restored(module: str, name: str, options: dict[str, Any]) -> Any:
    """The function of this name with these options: the module's own where it has them, else one that is made of it."""
    from natif.native import made

    found = _named(module, name)
    held = getattr(found, "options", options if hasattr(found, "is_native") else None)
    if held is not None and all(held.get(option) == value for option, value in options.items()):
        return found
    return made(getattr(found, "python", found), Options.checked(**options))


def _named(module: str, name: str) -> Any:
    found: Any = importlib.import_module(module)
    for step in name.split("."):
        found = getattr(found, step)
    return found
