"""What natif's four contenders share: compiling a case's function with `natif.compile`, and never timing a Python fallback as natif."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from bench.availability import natif_failure
from bench.case import Call, Case, NotAvailable
from bench.tensorflow_calls import TensorFlowContender


class NatifContender(TensorFlowContender):
    """natif with the options of one lane and one numerics mode. The workers run under NATIF_MODE=native, where a fallback is an error."""

    options: ClassVar[dict[str, Any]]

    def require(self) -> None:
        super().require()
        if natif_failure is not None:
            raise NotAvailable(f"natif can't be imported: {natif_failure}")

    def compiled(self, case: Case, witness: bool) -> Any:
        """The native function; NotAvailable with every reason where it stayed Python."""
        import natif

        function = case.target(witness)
        try:
            native = natif.compile(function, require=True, **self.options)
        except natif.CompileError as error:
            raise NotAvailable(f"{function.__name__} is not native: {error}") from error
        if not native.is_native:
            reasons = [site.message for site in native.report.sites if site.message]
            raise NotAvailable(f"{function.__name__} is not native: {'; '.join(reasons)}")
        return native

    def prepare(self, case: Case, witness: bool = False) -> Call:
        return partial(self.compiled(case, witness), *self.arguments(case))
