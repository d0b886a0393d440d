"""What is asked of one run of an experiment, beyond what its file says."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.study.file.experiment import ParameterFile, Setting
from orchestrator.study.file.table import Time


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Changes for all cases of a run, and how it is done.

    Parameters
    ----------
    values, swaps
        By ``component.parameter`` and by ``component``, for every case that has the component.
    delays
        By ``source -> target``, for every case that has the connection.
    parameters
        Parameter sets for every case, over its own values and under ``values``; paths start from
        the present folder.
    only
        Cases to run; empty means all.
    isolated
        Components that run in processes of their own; ``"all"`` means every one.
    notes
        Sentences to put into every result.
    strict
        Whether FMUs whose model descriptions break rules of FMI are refused.
    verify
        Whether every case is run again with H/2 and H/4, and all are compared.
    realtime
        Simulated over wall time: cases are run in real time, as the experiment's ``[realtime]``
        says but for its factor; ``None``: as it says.
    force_arming
        Whether devices move although arming is refused, or cannot be computed.
    stored_twins
        Folders of earlier results whose twins stand for an identification, the first that has one;
        ``None``: devices are identified, if the file says so.
    figures
        Whether pictures of all figures and systems are drawn as files.
    tuning
        A result: what was tuned while its case ran is done again, before the same steps; ``None``:
        nothing is.
    live
        Where the run is shown while it goes on, ``PORT`` or ``HOST:PORT``; ``None``: nowhere.
    stream
        Programs that are sent its rows meanwhile, ``udp[:[HOST:]PORT]`` or
        ``foxglove[:[HOST:]PORT]``; ``None``: none.
    """

    values: Mapping[str, Setting] = field(default_factory=dict)
    swaps: Mapping[str, str] = field(default_factory=dict)
    delays: Mapping[str, Time] = field(default_factory=dict)
    parameters: Sequence[ParameterFile] = ()
    only: Collection[str] = ()
    isolated: Collection[str] = ()
    notes: Sequence[str] = ()
    strict: bool = False
    verify: bool = False
    realtime: float | None = None
    force_arming: bool = False
    stored_twins: Sequence[Path] | None = None
    figures: bool = False
    tuning: Path | None = None
    live: str | None = None
    stream: tuple[str, ...] | None = None


#: The file says all.
AS_WRITTEN = RunSettings()
