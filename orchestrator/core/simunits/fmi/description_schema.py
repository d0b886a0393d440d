"""The XML schemas of FMI, as FMPy ships them; FMPy itself is not imported for them."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from lxml import etree


@cache
def schema_of(version: int, kind: str = "Model") -> etree.XMLSchema:
    """Return a schema.

    Parameters
    ----------
    version
        Major version of FMI.
    kind
        ``"Model"`` for modelDescription.xml, ``"Build"`` for the buildDescription.xml of FMI 3.0.
    """
    spec = find_spec("fmpy")
    assert spec is not None and spec.origin is not None  # noqa: S101, PT018 - it is required
    prefix = "fmi" if version == 1 else f"fmi{version}"
    folder = Path(spec.origin).parent / "schema" / f"fmi{version}"
    return etree.XMLSchema(file=str(folder / f"{prefix}{kind}Description.xsd"))
