"""Softdock: co-simulation for rigs that dock hardware against simulated spacecraft.

The names below are the public ones, with those of ``orchestrator.loops`` (linear models, modes and
margins), ``orchestrator.loops.contact`` (formulas of one contact loop),
``orchestrator.study.energy`` and ``orchestrator.study.measure`` (ledgers and growth of finished
runs), ``orchestrator.rig.devices`` (what adapters are made of) and ``orchestrator.export`` (FMUs
from Modelica and from equations in Python). All other modules are private: they may change without
notice.
"""

from typing import TYPE_CHECKING

from orchestrator.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from orchestrator.loops import linear_system as linear_system
    from orchestrator.loops.certificate import certify as certify
    from orchestrator.loops.contact import ContactLoop as ContactLoop
    from orchestrator.pictures.animation import (
        Animation as Animation,
        render_animation as render_animation,
    )
    from orchestrator.author import (
        example_fmu as example_fmu,
        open_document as open_document,
        read_system as read_system,
        read_toml as read_toml,
        write_toml as write_toml,
    )
    from orchestrator.core.diagnostics import (
        AlgebraicLoopError as AlgebraicLoopError,
        ArmingError as ArmingError,
        BusyError as BusyError,
        CapabilityError as CapabilityError,
        ConnectorMismatchError as ConnectorMismatchError,
        ConvergenceError as ConvergenceError,
        DeadlineError as DeadlineError,
        DescriptionError as DescriptionError,
        DeviceError as DeviceError,
        FmuError as FmuError,
        LoadError as LoadError,
        ModelicaError as ModelicaError,
        NeverEngagedError as NeverEngagedError,
        PluginError as PluginError,
        Reason as Reason,
        SoftdockError as SoftdockError,
        SspError as SspError,
        RunEndedError as RunEndedError,
        StepError as StepError,
        StepSizeUnderflowError as StepSizeUnderflowError,
        UnitMismatchError as UnitMismatchError,
        UnknownNameError as UnknownNameError,
        RestartedError as RestartedError,
        WireFormatError as WireFormatError,
    )
    from orchestrator.pictures.drawing import (
        change_lines as change_lines,
        differences as differences,
        draw_system as draw_system,
        render_page as render_page,
    )
    from orchestrator.core.simulation import (
        FailedRunError as FailedRunError,
        result_of as result_of,
        simulate as simulate,
    )
    from orchestrator.study import (
        Extension as Extension,
        Section as Section,
        read_checkpoint as read_checkpoint,
        read_experiment as read_experiment,
        run_experiment as run_experiment,
        swap_component as swap_component,
        verify as verify,
        write_checkpoint as write_checkpoint,
    )
    from orchestrator.study.judge import judge as judge
    from orchestrator.study.judge import Verdict as Verdict
    from orchestrator.study.prepare.prepare import prepare as prepare
    from orchestrator.study.sweep.of_python import sweep as sweep
    from orchestrator.export import (
        build_block as build_block,
        build_model as build_model,
        build_recipe as build_recipe,
    )
    from orchestrator.export.portable import write_portable_ssp as write_portable_ssp
    from orchestrator.export.system import export_system as export_system
    from orchestrator.core.master import (
        Coupling as Coupling,
        DelayMode as DelayMode,
        Execution as Execution,
        Group as Group,
        Iteration as Iteration,
        Loops as Loops,
        Plan as Plan,
        StepMethod as StepMethod,
        StepSizeControl as StepSizeControl,
        algorithm_names as algorithm_names,
        start as start,
    )
    from orchestrator.core.realtime import (
        OverrunPolicy as OverrunPolicy,
        RealTime as RealTime,
        RealTimeRecord as RealTimeRecord,
    )
    from orchestrator.core.recording import (
        Result as Result,
        read_parquet as read_parquet,
        read_result as read_result,
    )
    from orchestrator.core.simunits import (
        Block as Block,
        Input as Input,
        Notice as Notice,
        Output as Output,
        Parameter as Parameter,
        State as State,
        block as block,
        expect_flawless as expect_flawless,
        flaws_of as flaws_of,
        fmu as fmu,
        resolve as resolve,
        where as where,
    )
    from orchestrator.core.simunits.blocks.compiled import compiled as compiled
    from orchestrator.author.ssp_edit.document import Document as Document
    from orchestrator.core.ssp import (
        Mapped as Mapped,
        apply_parameter_set as apply_parameter_set,
        diagnose as diagnose,
        write_parameter_mapping as write_parameter_mapping,
        write_parameter_set as write_parameter_set,
        write_ssd as write_ssd,
        write_ssp as write_ssp,
    )
    from orchestrator.core.system import (
        Causality as Causality,
        Compensation as Compensation,
        Component as Component,
        ComponentOptions as ComponentOptions,
        Connector as Connector,
        DataType as DataType,
        DefaultExperiment as DefaultExperiment,
        Extrapolation as Extrapolation,
        Fault as Fault,
        FaultKind as FaultKind,
        Interpolation as Interpolation,
        Jitter as Jitter,
        JitterKind as JitterKind,
        LinearTransformation as LinearTransformation,
        MappingTransformation as MappingTransformation,
        Newest as Newest,
        PowerPort as PowerPort,
        Provenance as Provenance,
        Source as Source,
        System as System,
        TransportDelay as TransportDelay,
        Variability as Variability,
        Variation as Variation,
        conversion as conversion,
    )

    #: Of the installed package.
    __version__: str
else:
    _public_name, _, __all__ = lazy_names(__name__)

    def __getattr__(name):
        if name == "__version__":
            from importlib.metadata import version

            return version("softdock")
        return _public_name(name)

    def __dir__():  # rooms are imported by their own names
        return sorted({*__all__, "__version__", *(n for n in globals() if n.startswith("__"))})
