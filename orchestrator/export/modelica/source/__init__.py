"""Declarations of Modelica sources, read without rumoca: classes, lines, modifications."""
