"""Which emulators a case wants, and how they and the adapters of its devices reach each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orchestrator.core.diagnostics import DescriptionError, nearest
from orchestrator.study import Experiment
from orchestrator.study.file.experiment import Case
from orchestrator.study.prepare.prepared_case import EmulatorPlan


def with_emulators(
    experiment: Experiment, name: str, case: Case
) -> tuple[Case, dict[str, EmulatorPlan]]:
    """Plan the emulators of a case, on free ports, and tell its devices where they are.

    What the file says of addresses and ports wins.
    """
    problems = list(_strangers(name, case))
    if problems:
        raise DescriptionError(*problems)
    wanted = [name for name in experiment.emulators | case.emulators if name in case.devices]
    if not wanted:
        return case, {}
    from orchestrator.rig.devices.conformance import bench_of
    from orchestrator.study.file.device_table import DeviceTable

    devices, plans = dict(case.devices), {}
    for component in wanted:
        kind = devices[component].device
        if kind is None:
            raise DescriptionError(
                f"case '{name}': devices.{component}: missing key 'device', since an emulator"
                " stands for it"
            )
        bench = bench_of(kind)
        wiring = bench.wiring()
        own = _options(experiment, case, component)
        plans[component] = EmulatorPlan(bench.emulator, (*wiring.arguments, *_arguments(own)))
        told = {**wiring.settings, **devices[component].settings}
        devices[component] = DeviceTable(device=kind, **told)
    return case.model_copy(update={"devices": devices}), plans


def _strangers(name: str, case: Case) -> Iterator[str]:
    for component in case.emulators:
        if component not in case.devices:
            yield (
                f"case '{name}': emulators.{component}: expected a device of the case"
                f"{nearest(component, case.devices)}; it has: {', '.join(case.devices) or 'none'}"
            )


def _options(experiment: Experiment, case: Case, component: str) -> Mapping[str, object]:
    from orchestrator.rig.tables.emulator_table import EmulatorTable

    none = EmulatorTable()
    return {
        **experiment.emulators.get(component, none).options,
        **case.emulators.get(component, none).options,
    }


def _arguments(options: Mapping[str, object]) -> Iterator[str]:
    for key, value in options.items():
        if value is False:
            continue
        yield f"--{key}"
        if value is not True:
            yield str(value)
