"""A Model Exchange FMU: what it says of itself, and the unit that the engine integrates."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import CapabilityError, FmuError, LoadError
from orchestrator.core.simunits.fmi.description_parts import Interface, ModelDescription
from orchestrator.core.simunits.fmi.fmu_description import DEFAULT_TOLERANCE, open_description
from orchestrator.core.simunits.fmi.fmu_unit import FmuUnit
from orchestrator.core.simunits.protocol import Capabilities, SimulationUnit, UnitDescription
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import Causality, ComponentOptions, Connector, DataType, Value
from orchestrator.engine import Fmi2Model, Fmi3Model, Fmu, Fmu2, Fmu3, MeUnit

if TYPE_CHECKING:
    from orchestrator.core.simunits.protocol import Floats


class ExchangeDescription(Struct):
    """The Model Exchange interface of an FMU.

    states: Names of the continuous states; an array has one name, with brackets, for each element.
    state_references, derivative_references: Value references of the state variables and of their
        derivatives, in the same order.
    sizes: Number of elements of each state variable.
    indicators: Number of event indicators, as FMI 2.0 declares it.
    continuous: Names of the inputs that may change while time goes on.
    has_jacobian: Whether derivatives of the derivatives may be asked for.
    tell_steps: Whether it needs to know every internal step.
    """

    states: tuple[str, ...]
    state_references: tuple[int, ...]
    derivative_references: tuple[int, ...]
    sizes: tuple[int, ...]
    indicators: int
    continuous: frozenset[str]
    has_jacobian: bool
    tell_steps: bool


def as_model_exchange(description: UnitDescription, described: ModelDescription) -> UnitDescription:
    """Return the description of a unit for the case that it is run by Model Exchange."""
    interface = described.modelExchange or Interface()
    capabilities = Capabilities(
        can_roll_back=interface.canGetAndSetFMUstate,
        can_serialize=interface.canSerializeFMUstate,
        has_directional_derivatives=interface.providesDirectionalDerivative
        or interface.providesDirectionalDerivatives,
        input_order=3,
        once_per_process=interface.canBeInstantiatedOnlyOncePerProcess,
    )
    details = {**description.details, "kind": f"FMU, FMI {described.fmiVersion} Model Exchange"}
    states = bool(described.derivatives)
    return replace(description, capabilities=capabilities, has_states=states, details=details)


def describe_exchange(described: ModelDescription, *, has_jacobian: bool) -> ExchangeDescription:
    """Read the Model Exchange interface from a model description."""
    derivatives = [unknown.variable for unknown in described.derivatives]
    variables = [
        derivative.derivative for derivative in derivatives if derivative.derivative is not None
    ]
    if len(variables) < len(derivatives):
        names_without = ", ".join(
            f"'{derivative.name}'" for derivative in derivatives if derivative.derivative is None
        )
        raise FmuError(
            f"FMU of model '{described.modelName}': {names_without} are listed as derivatives"
            " without the attribute 'derivative'"
        )
    sizes = [prod(variable.shape) for variable in variables]
    names: list[str] = []
    for variable, size in zip(variables, sizes, strict=True):
        is_array = bool(variable.shape)
        names += [f"{variable.name}[{i}]" if is_array else variable.name for i in range(size)]
    return ExchangeDescription(
        states=tuple(names),
        state_references=tuple(variable.valueReference for variable in variables),
        derivative_references=tuple(derivative.valueReference for derivative in derivatives),
        sizes=tuple(sizes),
        indicators=described.numberOfEventIndicators,
        continuous=frozenset(
            variable.name
            for variable in described.modelVariables
            if variable.causality == Causality.INPUT
            and variable.type in {"Real", "Float64"}
            and variable.variability in {None, "continuous"}
        ),
        has_jacobian=has_jacobian,
        tell_steps=(described.modelExchange or Interface()).needsCompletedIntegratorStep,
    )


_COUNT = struct.Struct("<q")


class ModelExchangeUnit(SimulationUnit):
    """Integrates one instance of a Model Exchange FMU.

    name: The component's name.
    instance: The FMU, instantiated for Model Exchange.
    options: Solver; the relative tolerance is the instance's.
    Raises FmuError: if the library cannot be loaded or the FMU refuses to be instantiated.
    Raises CapabilityError: if the solver is not there.
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
        tolerance = instance.tolerance or DEFAULT_TOLERANCE
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

    def _setup(self, start_ns: int, stop_ns: int | None) -> None:
        self._start_ns = start_ns
        self._instance.setup(start_ns, stop_ns)

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

    @property
    def logs_more(self) -> str:
        """Say how the FMU's messages for debugging are turned on, where they are off."""
        return self._instance.logs_more

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
    import fmpy

    return Path(fmpy.__file__).parent / "sundials" / str(fmpy.platform_tuple)
