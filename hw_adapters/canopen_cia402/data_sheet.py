"""Electronic data sheets (EDS, CiA 306) of drives, which maps of PDOs are held against."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hw_adapters.canopen_cia402.pdo import PdoMap
from hw_adapters.canopen_cia402.settings import DriveSettings
from orchestrator import DescriptionError

if TYPE_CHECKING:
    from canopen import ObjectDictionary


def check_data_sheet(drive: DriveSettings) -> None:
    """Hold the maps of a drive against its data sheet, if it has one.

    Raises
    ------
    DescriptionError
        If the sheet cannot be read, or a PDO or one of its objects is not there or cannot be
        mapped; all of it together.
    """
    if drive.eds is None:
        return
    sheet = _read(drive)
    maps = (*drive.command_maps, *drive.measurement_maps)
    if problems := [problem for pdo in maps for problem in _problems(sheet, pdo)]:
        texts = (f"drive '{drive.name}': {problem_text}" for problem_text in problems)
        raise DescriptionError.collect(
            [DescriptionError.about(text, file=str(drive.eds), key="drives") for text in texts]
        )


def _read(drive: DriveSettings) -> ObjectDictionary:
    try:
        import canopen
    except ImportError:
        raise DescriptionError.about(
            "a data sheet needs the library canopen: pip install 'softdock[rig]'", key="eds"
        ) from None
    try:
        return canopen.import_od(str(drive.eds), drive.node)
    except Exception as error:
        raise DescriptionError.about(
            f"drive '{drive.name}': the data sheet cannot be read: {error}", file=str(drive.eds)
        ) from error


def _problems(sheet: ObjectDictionary, pdo: PdoMap) -> Iterator[str]:
    kind = f"{'RPDO' if pdo.commanded else 'TPDO'}{pdo.number}"
    if pdo.parameters[0] not in sheet:
        yield f"the data sheet has no {kind} ({pdo.parameters[0]:04X})"
    for drive_object in pdo.objects:
        entry = sheet.get(drive_object.index)
        if entry is None:
            yield f"{kind}: the data sheet has no {drive_object}"
        elif not getattr(entry, "pdo_mappable", True):
            yield f"{kind}: the data sheet says that {drive_object} cannot be mapped"
