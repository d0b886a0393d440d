import pytest
from fmpy.ssp.simulation import simulate_ssp
from fmpy.ssp.ssd import read_ssv

from orchestrator import read_system, simulate
from orchestrator.core.coupling import DelayMode
from orchestrator.export.portable import write_portable_ssp

STEP_NS = 1_000_000


@pytest.fixture
def played(tmp_path):
    """Run a system by our master, by FMPy, and again by our master from the portable .ssp.

    Each gives the values of the outputs of all components after every step, by name.
    """

    def play(system, *, count=200, delay="mean", plain=False, step_ns=STEP_NS):
        path = tmp_path / "portable.ssp"
        made = write_portable_ssp(
            system,
            str(path),  # or a Path, as elsewhere
            step_ns=step_ns,
            delay=DelayMode(delay),
            plain_connections=plain,
        )
        h = step_ns / 1e9
        stop = f"{count * step_ns} ns"
        ours = simulate(
            made.inside, algorithm="jacobi", step=f"{step_ns} ns", stop=stop, delay=delay
        )
        again = simulate(read_system(path), stop=stop)
        parameters = read_ssv(path, "parameters.ssv")
        for parameter in parameters.parameters:
            if parameter.type == "Boolean":  # FMPy takes any text for true
                parameter.value = parameter.value == "true"
        rows = simulate_ssp(
            str(path), stop_time=(count - 0.5) * h, step_size=h, parameter_set=parameters
        )
        return (
            {name: ours.values[1:, i] for i, name in enumerate(ours.names)},
            {name: rows[name] for name in rows.dtype.names},
            {name: again.values[1:, i] for i, name in enumerate(again.names)},
            made,
        )

    return play
