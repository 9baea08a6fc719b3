"""How a trial fails."""

from __future__ import annotations


class Failed(Exception):
    """A promise was broken; the words say which, on which value."""


def require(figures: str, *claims: tuple[str, bool]) -> str:
    """Gives the figures when every claim is kept; fails with what was broken, and the figures, when one is not."""
    if broken := [words for words, is_kept in claims if not is_kept]:
        raise Failed(f"{'; '.join(broken)}: {figures}")
    return figures
