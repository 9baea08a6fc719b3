"""The failure of a trial."""

from __future__ import annotations


class Failed(Exception):
    """A broken promise. The message names it and the offending value."""


def require(figures: str, *claims: tuple[str, bool]) -> str:
    """Returns the figures if every claim holds; otherwise fails with the broken claims and the figures."""
    if broken := [words for words, is_kept in claims if not is_kept]:
        raise Failed(f"{'; '.join(broken)}: {figures}")
    return figures
