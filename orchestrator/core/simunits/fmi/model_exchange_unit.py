"""A Model Exchange FMU as a simulation unit: the engine integrates it over each step."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import CapabilityError, FmuError, LoadError
from orchestrator.core.diagnostics.extras import of_an_extra
from orchestrator.core.simunits.fmi.exchange_description import (
    ExchangeDescription,
    describe_exchange,
)
from orchestrator.core.simunits.fmi.fmu_description import open_description
from orchestrator.core.simunits.fmi.fmu_unit import FmuUnit
from orchestrator.core.simunits.protocol.unit import SimulationUnit
from orchestrator.core.system import ComponentOptions, Connector, DataType, Value
from orchestrator.engine import Fmi2Model, Fmi3Model, Fmu, Fmu2, Fmu3, MeUnit

if TYPE_CHECKING:
    from orchestrator.core.simunits.protocol.unit import Floats

DEFAULT_TOLERANCE = 1e-6
_COUNT = struct.Struct("<q")


class ModelExchangeUnit(SimulationUnit):
    """Integrates one instance of a Model Exchange FMU.

    Parameters
    ----------
    name
        The component's name.
    instance
        The FMU, instantiated for Model Exchange.
    options
        Solver and relative tolerance.

    Raises
    ------
    FmuError
        If the library cannot be loaded or the FMU refuses to be instantiated.
    CapabilityError
        If the solver is not there.
    """

    native: MeUnit

    def __init__(self, name: str, instance: FmuUnit, options: ComponentOptions) -> None:
        self._instance = instance
        fmu = instance.fmu
        can = fmu.description.capabilities
        described = open_description(fmu.path)
        exchange = describe_exchange(described, has_jacobian=can.has_directional_derivatives)
        self._continuous = exchange.continuous
        self.state_names = exchange.states
        try:
            self.model = _model(instance.native, exchange)
        except RuntimeError as error:
            raise FmuError(f"component '{name}' ({fmu.path}): {error}") from None
        tolerance = DEFAULT_TOLERANCE if options.tolerance is None else options.tolerance
        folder = str(sundials_folder()) if options.solver == "cvode" else ""
        try:
            native = MeUnit(self.model, tolerance, folder, exchange.states)
        except RuntimeError as error:
            raise CapabilityError(
                f"component '{name}': solver 'cvode' needs the SUNDIALS libraries of FMPy:"
                f" {error}; install the package fmpy for this machine, or use solver 'dopri5'"
            ) from None
        super().__init__(name, fmu.description, native)
        self._start_ns = 0

    def _set_values(self, values: Mapping[str, Value]) -> None:
        variables = self._instance.fmu.variables
        if structural := [name for name in values if variables[name].is_structural]:
            raise CapabilityError(
                f"component '{self.name}': structural parameters ({', '.join(structural)}) may"
                " change the number of states; run the FMU with interface 'cs' to set them"
            )
        self._instance.set_values(values)

    def set_value(self, name: str, value: Value) -> None:
        """Set one input that is not bound, between two steps: an event at which the next begins."""
        self._check(self.native.expect_event(), f"setting '{name}'")
        self._instance.set_value(name, value)

    def _bind(self) -> None:
        self._instance.bind([c.name for c in self.inputs], [c.name for c in self.outputs])
        references = self._instance.fmu.references
        self.model.bind(
            [
                (references[c.name], c.size, c.name in self._continuous)
                for c in self.inputs
                if c.type is DataType.REAL
            ]
        )
        self.native.bind()

    def _setup(self, start_ns: int, stop_ns: int | None, tolerance: float | None) -> None:
        self._start_ns = start_ns
        self._instance.setup(start_ns, stop_ns, tolerance)

    def _initialise_outputs(self, start_ns: int) -> None:
        self._instance.initialise_outputs(start_ns)

    def _exit_initialisation(self) -> None:
        self._instance.exit_initialisation()
        self._check(self.native.start(self._start_ns), "starting the integration")

    def _get_state(self) -> object:
        return self._instance.get_state(), tuple(self.native.memory())

    def _set_state(self, state: object) -> None:
        saved, memory = _parts(state)
        self._instance.set_state(saved)
        self._check(self.native.put_back(memory), "restoring a state")

    def _serialize(self, state: object) -> bytes:
        saved, memory = _parts(state)
        numbers = struct.pack(f"<{len(memory)}d", *memory)
        return _COUNT.pack(len(memory)) + numbers + self._instance.serialize(saved)

    def _deserialize(self, data: bytes) -> object:
        try:
            (count,) = _COUNT.unpack_from(data)
            end = _COUNT.size + 8 * count
            memory = struct.unpack_from(f"<{count}d", data, _COUNT.size)
        except (struct.error, OverflowError):
            raise LoadError(
                f"component '{self.name}': the saved state is damaged: expected the numbers of the"
                " integrator and the state of the FMU"
            ) from None
        return self._instance.deserialize(data[end:]), memory

    def _value(self, connector: Connector) -> Value | Floats:
        return self._instance.value(connector.name)

    def _terminate(self) -> None:
        self._instance.terminate()

    def last_ns(self, time_ns: int) -> int:
        """Return the time at which the model ended the simulation."""
        return max(self.native.reached[0], time_ns)

    def forward_log(self) -> None:
        """Pass the FMU's messages on to the logger ``orchestrator.fmu.<component>``."""
        self._instance.forward_log()

    def last_message(self) -> str:
        """Return the last message that the FMU wrote."""
        return self._instance.last_message()


def _model(native: Fmu, exchange: ExchangeDescription) -> Fmi2Model | Fmi3Model:
    """Return what an integrator sees of an instance, by its version of FMI."""
    states, derivatives = exchange.state_references, exchange.derivative_references
    flags = exchange.has_jacobian, exchange.tell_steps
    if isinstance(native, Fmu3):
        return Fmi3Model(native, states, derivatives, exchange.sizes, *flags)
    if not isinstance(native, Fmu2):
        raise FmuError(f"expected an instance of FMI 2.0 or 3.0, found {type(native).__name__}")
    return Fmi2Model(native, exchange.indicators, states, derivatives, *flags)


def _parts(state: object) -> tuple[object, Sequence[float]]:
    if not isinstance(state, tuple) or len(state) != 2:
        raise TypeError(f"expected a saved state of a Model Exchange unit, found {type(state)}")
    return state


def sundials_folder() -> Path:
    """Return where FMPy has the SUNDIALS libraries of this platform, if it has any."""
    with of_an_extra():
        import fmpy

    return Path(fmpy.__file__).parent / "sundials" / str(fmpy.platform_tuple)
