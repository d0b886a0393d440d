"""What Modelica sources declare, read beside rumoca: classes, lines, modifications."""
