"""Trials of the installed program with real processes: `python3 -m trials --help` lists them."""
