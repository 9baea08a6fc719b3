"""What every trial is: its name, its options, what it needs of the machine, and its end."""

from __future__ import annotations

import argparse
import contextlib
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, NamedTuple

from .waypost import Waypost


class Option(NamedTuple):
    """A number on the command line of one trial."""

    flag: str
    default: float
    help: str
    kind: Callable[[str], float] = int


def count(text: str) -> int:
    """How often something is to happen. Never happening proves nothing."""
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} proves nothing, must be 1 or more")
    return int(text)


class Trial:
    """One trial. `run` gives the figures to print, or fails; what `ends_with` was given is ended in any case."""

    name: ClassVar[str]
    options: ClassVar[tuple[Option, ...]] = ()
    has_seed: ClassVar[bool] = False
    # Why it needs root, in words that follow its name.
    root: ClassVar[str | None] = None
    # Programs that have to be there, with the Debian packages that have them.
    tools: ClassVar[dict[str, str]] = {}

    def __init__(self, arguments: argparse.Namespace, waypost: Waypost, directory: Path) -> None:
        self.arguments, self.waypost, self.directory = arguments, waypost, directory
        self.chance = random.Random(arguments.seed if self.has_seed else 1)
        self._endings = contextlib.ExitStack()
        self._began = time.monotonic()

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        """Options that are no numbers."""

    @classmethod
    def prepare(cls, arguments: argparse.Namespace) -> None:
        """Builds what the trial needs besides the program, before it is alone."""

    def run(self) -> str:
        raise NotImplementedError

    def ends_with(self, ending: Callable[[], object]) -> None:
        """Has `ending` called when the trial ends, however it does; the last one first."""
        self._endings.callback(ending)

    def end(self) -> None:
        self._endings.close()

    def seconds(self) -> int:
        """How long it has taken so far."""
        return round(time.monotonic() - self._began)

