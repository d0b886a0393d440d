"""What a component becomes when it runs: FMUs and Python blocks behind one protocol."""

from typing import TYPE_CHECKING

from orchestrator.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from orchestrator.core.simunits.blocks.block import (
        Block as Block,
        Input as Input,
        Output as Output,
        Parameter as Parameter,
        State as State,
        where as where,
    )
    from orchestrator.core.simunits.blocks.block_file import files_at as files_at
    from orchestrator.core.simunits.blocks.block_unit import BlockUnit as BlockUnit
    from orchestrator.core.simunits.blocks.compiled import watch_compiling as watch_compiling
    from orchestrator.core.simunits.fmi.fmi1_unit import Fmu1Unit as Fmu1Unit
    from orchestrator.core.simunits.fmi.fmi3_unit import Fmu3Unit as Fmu3Unit
    from orchestrator.core.simunits.fmi.fmu_description import open_description as open_description
    from orchestrator.core.simunits.fmi.fmu_reading import (
        expect_flawless as expect_flawless,
        flaw_notes as flaw_notes,
        flaws_of as flaws_of,
        fmu_of as fmu_of,
        read_fmu as read_fmu,
    )
    from orchestrator.core.simunits.fmi.fmu_unit import (
        Fmu2Unit as Fmu2Unit,
        FmuUnit as FmuUnit,
        unpacked as unpacked,
    )
    from orchestrator.core.simunits.fmi.model_exchange_unit import (
        ModelExchangeUnit as ModelExchangeUnit,
    )
    from orchestrator.core.simunits.instantiation import isolate as isolate, make_unit as make_unit
    from orchestrator.core.simunits.instantiation import under_wine as under_wine
    from orchestrator.core.simunits.isolation.worker_process import WorkerProcess as WorkerProcess
    from orchestrator.core.simunits.protocol import (
        Capabilities as Capabilities,
        Notice as Notice,
        SimulationUnit as SimulationUnit,
        StepResult as StepResult,
        UnitDescription as UnitDescription,
        changed_note as changed_note,
        left_note as left_note,
        put_back as put_back,
    )
    from orchestrator.core.simunits.registry import (
        as_declared as as_declared,
        block as block,
        block_class as block_class,
        block_names as block_names,
        capabilities_of as capabilities_of,
        class_of as class_of,
        component_of as component_of,
        description_of as description_of,
        differences as differences,
        fmu as fmu,
        resolve as resolve,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
