"""Equations: from residuals to explicit functions, blocks solved at run time, and events."""
