"""Loops in a study: its account, the steps that they allow, what is predicted of contact."""
