"""Everything that reads what others have written, with something sound to begin with."""

import atexit
import io
import json
import shutil
import socket
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow.parquet as pq

from fuzz import codecs, dcp, seeds
from fuzz.mutations import changed_data, damaged, damaged_json, damaged_zip
from orchestrator.author import read_toml
from orchestrator.checks.inspection.check import fmu_info
from orchestrator.core.diagnostics import LoadError
from orchestrator.core.master import Execution
from orchestrator.core.recording import read_parquet, read_result, write_parquet, writer
from orchestrator.core.simunits import block, read_fmu
from orchestrator.core.simunits.blocks.block_unit import decode, encode
from orchestrator.core.simunits.isolation.wire import receive, send
from orchestrator.core.simunits.isolation.worker_process import answer_of, result_of
from orchestrator.core.simunits.logs import read_recorded
from orchestrator.core.ssp import diagnose
from orchestrator.core.ssp.read.package import read_system
from orchestrator.core.system import DelayTrace, System
from orchestrator.dcp.dcp_file import read_description
from orchestrator.export.archive.fmu_archive import stored_key
from orchestrator.export.recipe import Recipe
from orchestrator.pictures.animation.page import redraw
from orchestrator.rig.supervisor.rig_tracking import read_tracks
from orchestrator.study import read_checkpoint, read_experiment, write_checkpoint
from orchestrator.study.experiment import Experiment
from orchestrator.study.prepare.inputs import read_signal
from orchestrator.study.sweep.store import Store


@dataclass(frozen=True)
class Reader:
    """What reads a file.

    ``seed`` gives a sound content, ``damage`` changes one, ``read`` reads a file and raises nothing
    but SoftdockError.
    """

    suffix: str
    seed: Callable[[], bytes]
    damage: Callable[[bytes, Random], bytes]
    read: Callable[[Path], object]


def _by_file(write: Callable[[Path], object]) -> Callable[[], bytes]:
    @cache
    def seed() -> bytes:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "seed"
            write(path)
            return path.read_bytes()

    return seed


def _text(text: str) -> Callable[[], bytes]:
    return text.encode


def _damaged_parquet(content: bytes, chance: Random) -> bytes:
    """Change bytes, the metadata or the columns of a Parquet file."""
    if chance.random() < 0.4:
        return damaged(content, chance)
    table = pq.read_table(io.BytesIO(content))
    metadata = dict(table.schema.metadata)
    way = chance.random()
    if way < 0.7 and b"softdock" in metadata:
        origin = changed_data(json.loads(metadata[b"softdock"]), chance)
        table = table.replace_schema_metadata({**metadata, b"softdock": json.dumps(origin)})
    elif way < 0.8:
        key = chance.choice(list(metadata))
        metadata[key] = damaged(metadata[key], chance)
        table = table.replace_schema_metadata(metadata)
    else:
        at = chance.randrange(table.num_columns)
        names = [*table.column_names]
        names[at] = chance.choice(("", "time", "x [\x1b]", names[0]))
        field = table.schema.field(at).with_name(names[at])
        field = field.with_metadata({b"unit": chance.choice((b"\xff", b"m", b"\x1b[31m"))})
        column = table.column(at)
        if chance.random() < 0.5:
            odd = chance.choice((None, 1e300, 1e20, float("nan"), -1.0))
            column = [odd] * table.num_rows
        table = (
            table.set_column(at, field, [column])
            if isinstance(column, list)
            else (table.set_column(at, field, column))
        )
    target = io.BytesIO()
    pq.write_table(table, target)
    return target.getvalue()


@cache
def _execution() -> Execution:
    held = {"position_a": 0.1, "position_b": 0.0, "velocity_b": 0.0}
    system = System("s").add("one", block("differentiator"), position=1.0)
    system = system.add("two", block("spring_dashpot"), **held)
    system = system.connect("one.velocity", "two.velocity_a", delay="2 ms")
    return Execution(system, step="1 ms")


atexit.register(_execution.cache_clear)  # the engine would say at the end that it was forgotten


def _write_checkpoint(path: Path) -> None:
    execution = _execution()
    execution.step(5)
    write_checkpoint(execution.save(), path)


def _read_checkpoint(path: Path) -> None:
    stored = read_checkpoint(path)
    execution = _execution()
    execution.restore(stored)
    execution.step(3)


def _frame() -> bytes:
    here, there = socket.socketpair()
    with here, there:
        notice = {"time_ns": 1, "what": "said", "safe": True}
        send(here, {"result": {"list": [notice]}, "log": [["x", 30, "said"]]}, b"bytes")
        return there.recv(10_000)


def _read_frame(path: Path) -> None:
    here, there = socket.socketpair()
    with here, there:
        there.settimeout(1.0)
        here.sendall(path.read_bytes()[:100_000])
        here.close()
        try:
            receive(there)
        except (ValueError, EOFError) as error:  # what whoever reads a frame knows
            raise LoadError("no frame") from error


def _read_state(path: Path) -> None:
    try:
        decode(path.read_bytes())
    except ValueError as error:  # what it says that it raises
        raise LoadError("no state") from error


def _ssp(path: Path) -> None:
    system, _ = diagnose(path)
    if system is not None:
        system.flat()


def _signal(path: Path) -> None:
    read_signal(path, "force")


_ANSWER = {"log": [("a", 30, "said")], "result": [{"time_ns": 1, "what": "said", "safe": True}]}


def _read_answer(path: Path) -> None:
    try:
        answer = answer_of(decode(path.read_bytes()))
        if "error" not in answer:
            result_of("notices", answer)
    except ValueError as error:
        raise LoadError("no answer") from error


_ARRAYS = {"a": (1, 2.5), "b": [np.arange(3.0), None, True, "x", b"y"], "c": np.float64(1.5)}
ANIMATION = """
[animation.moving]
cases = ["a"]
frame = { body = { position = ["body.x", 0, 0] } }
part = { ball = { shape = "sphere", in = "body", radius = 0.1 } }
[[animation.moving.chart]]
ylabel = "v"
curves = [{ signal = "body.v", label = "v" }]
"""


@cache
def _drawn() -> Experiment:
    content = tomllib.loads(ANIMATION) | {"title": "t", "case": {"a": {"system": "a.ssd"}}}
    return Experiment.model_validate(content)


def _read_tracks(path: Path) -> None:
    for track in read_tracks(path):
        track.as_json()


def _recorded(path: Path) -> None:
    read_recorded(path, "plant")


def _write_as(kind: str, path: Path) -> None:
    writer(kind)(seeds.result(), path)


def _redraw(path: Path) -> None:
    """Draw an animation from a result, as ``softdock animate`` does."""
    with TemporaryDirectory(dir=path.parent) as folder:
        shutil.copyfile(path, Path(folder) / "a.parquet")
        redraw(_drawn(), Path(folder), Path(folder))


READERS = {
    "animate": Reader(
        ".parquet", _by_file(lambda p: write_parquet(seeds.result(), p)), _damaged_parquet, _redraw
    ),
    "result": Reader(
        ".parquet",
        _by_file(lambda p: write_parquet(seeds.result(), p)),
        _damaged_parquet,
        read_result,
    ),
    "frame": Reader(
        ".parquet",
        _by_file(lambda p: write_parquet(seeds.result(), p)),
        _damaged_parquet,
        read_parquet,
    ),
    **{
        f"result-{kind}": Reader(
            f".{kind}",
            _by_file(partial(_write_as, kind)),
            damaged,
            read_result,
        )
        for kind in ("mcap", "csv", "mat")
    },
    "signal-csv": Reader(".csv", _text(seeds.SIGNAL), damaged, _signal),
    "signal-parquet": Reader(".parquet", _by_file(seeds.signal), _damaged_parquet, _signal),
    "tracks": Reader(".csv", _text(seeds.TRACKS), damaged, _read_tracks),
    "recording-csv": Reader(".csv", _text(seeds.RECORDING), damaged, _recorded),
    "trace": Reader(".csv", _text(seeds.TRACE), damaged, DelayTrace.read),
    "store": Reader(".jsonl", _text(seeds.STORE), seeds.damaged_store, lambda p: Store(p).read()),
    "checkpoint": Reader(".zip", _by_file(_write_checkpoint), damaged_zip, _read_checkpoint),
    "fmu1": Reader(
        ".fmu", lambda: seeds.fmu(1), damaged_zip, lambda p: read_fmu(p, runnable=False)
    ),
    "fmu2": Reader(
        ".fmu", lambda: seeds.fmu(2), damaged_zip, lambda p: read_fmu(p, runnable=False)
    ),
    "fmu3": Reader(
        ".fmu", lambda: seeds.fmu(3), damaged_zip, lambda p: read_fmu(p, runnable=False)
    ),
    "stamp": Reader(".fmu", lambda: seeds.fmu(2), damaged_zip, stored_key),
    "ssd": Reader(".ssd", seeds.ssd, damaged, _ssp),
    "ssp": Reader(".ssp", seeds.ssp, damaged_zip, read_system),
    "ssv": Reader(".ssv", _text(seeds.SSV), damaged, seeds.apply_values),
    "ssm": Reader(".ssm", _text(seeds.SSM), damaged, seeds.apply_mapping),
    "system": Reader(".toml", _text(seeds.SYSTEM), damaged, read_toml),
    "experiment": Reader(".toml", seeds.experiment, damaged, read_experiment),
    "sweep": Reader(".toml", seeds.sweep, damaged, read_experiment),
    "scene": Reader(".toml", seeds.scene, damaged, seeds.read_scene),
    "recipe": Reader(".toml", seeds.recipe, damaged, Recipe.read),
    "modelica": Reader(".mo", seeds.modelica, seeds.damaged_modelica, seeds.read_modelica),
    "message": Reader(".bin", _frame, damaged, _read_frame),
    "answer": Reader(".json", lambda: encode(_ANSWER), damaged_json, _read_answer),
    "dcpx": Reader(".dcpx", dcp.dcpx, damaged, read_description),
    "dcp": Reader(".dcp", dcp.dcp, damaged_zip, read_description),
    "dcp-pdu": Reader(".bin", lambda: dcp.TALK[1], dcp.damaged_pdu, dcp.read_pdu),
    "dcp-talk": Reader(".bin", dcp.talk, dcp.damaged_talk, dcp.read_talk),
    "fmu-info": Reader(".fmu", lambda: seeds.fmu(3), damaged_zip, fmu_info),
    "state": Reader(".json", lambda: encode(_ARRAYS), damaged_json, _read_state),
}
READERS |= {
    name: Reader(".bin", partial(codecs.packed, seed), codecs.damaged_messages, codecs.each(read))
    for name, seed, read in (
        ("slcan", codecs.SLCAN, codecs.read_slcan),
        ("canopen", codecs.CANOPEN, codecs.read_canopen),
        ("rtde", codecs.RTDE, codecs.read_rtde),
        ("gcs", codecs.GCS, codecs.read_gcs),
        ("rdt", codecs.RDT, codecs.read_rdt),
        ("rdt-page", codecs.RDT_PAGE, codecs.read_rdt_page),
        ("rsi", codecs.RSI, codecs.read_rsi),
        ("udp", codecs.UDP, codecs.read_udp),
        ("shm", codecs.SHM, codecs.read_shm),
    )
}
