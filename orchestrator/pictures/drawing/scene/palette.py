"""Colours and sizes of a drawing."""

from __future__ import annotations

INK, QUIET, PALE, PAPER = "#222222", "#444444", "#707070", "#ffffff"
#: Lines with a delay.
LATE = "#C24E00"
NAME_SIZE, SOURCE_SIZE, PORT_SIZE, LABEL_SIZE, TITLE_SIZE = 10.0, 7.5, 8.0, 7.5, 12.0
HEAD = 32.0
ROW = 16.0
#: Fill of the head, and edge, by kind of a part.
KINDS = {
    "fmu": ("#D6E6F4", "#2F5F8A", "FMU"),
    "block": ("#FBE8C8", "#9A6A10", "Python block"),
    "device": ("#F6D9D2", "#9C3D22", "device"),
    "log": ("#E3E7EA", "#5B6770", "recording"),
    "twin": ("#F3E0EE", "#8A4A78", "twin"),
    "system": ("#E6E1F2", "#5D4B94", "system"),
    "bus": ("#D9EFE0", "#2C7A4B", "signal dictionary"),
}
#: Frames in frames change between these.
FRAMES = ("#FBFAFE", "#F2F0F9")
#: Bands along the lines of loops: lighter than the lines, told apart with any colour vision.
LOOPS = ("#8CC4EA", "#F6C177", "#86D3B5", "#E6B3D1", "#E8DC6A", "#F0A58A", "#B9AEE6", "#C4C4C4")
#: Dashes of the band of an algebraic loop.
BROKEN = (7.0, 3.0)
#: Fill and edge of what a comparison found.
MARKS = {
    "added": ("#D4F2DC", "#16803C"),
    "removed": ("#FBD9D9", "#B42318"),
    "changed": ("#FFF0B8", "#946200"),
}
