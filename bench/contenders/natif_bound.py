"""natif, exact, with the weights bound: captured and packed once by `.bind()`, so that a call passes the data alone."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from bench.case import Call, Case, NotAvailable
from bench.natif_calls import NatifContender


class Entrant(NatifContender):
    name = "natif_bound"
    label = "natif, exact, bound"
    exact = True
    bound = True
    options: ClassVar[dict[str, Any]] = {"lane": "auto", "numerics": "exact"}

    def prepare(self, case: Case, witness: bool = False) -> Call:
        if not case.weights:
            raise NotAvailable("the function has no weights to bind")
        arguments = dict(zip((*case.tensors, *case.scalars), self.arguments(case), strict=True))
        bound = self.compiled(case, witness).bind(**{name: arguments[name] for name in case.weights})
        return partial(bound, *(value for name, value in arguments.items() if name not in case.weights))
