"""The common part of all trials: name, options, requirements of the machine, and end."""

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
    """A numeric option of one trial."""

    flag: str
    default: float
    help: str
    kind: Callable[[str], float] = int


def count(text: str) -> int:
    """Parses the number of repetitions. Zero repetitions prove nothing."""
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} proves nothing; specify 1 or more")
    return int(text)


class Trial:
    """A trial. `run` returns the figures to print, or fails. Everything passed to `ends_with` is called in any case."""

    name: ClassVar[str]
    options: ClassVar[tuple[Option, ...]] = ()
    has_seed: ClassVar[bool] = False
    # The reason why the trial needs root, as the subject of "... needs root".
    root: ClassVar[str | None] = None
    # Required programs, with the Debian packages that contain them.
    tools: ClassVar[dict[str, str]] = {}

    def __init__(self, arguments: argparse.Namespace, waypost: Waypost, directory: Path) -> None:
        self.arguments, self.waypost, self.directory = arguments, waypost, directory
        self.chance = random.Random(arguments.seed if self.has_seed else 1)
        self._endings = contextlib.ExitStack()
        self._began = time.monotonic()

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        """Adds options that aren't numbers."""

    @classmethod
    def prepare(cls, arguments: argparse.Namespace) -> None:
        """Builds what the trial needs in addition to the program, before it is isolated."""

    def run(self) -> str:
        raise NotImplementedError

    def ends_with(self, ending: Callable[[], object]) -> None:
        """Registers `ending` to be called when the trial ends in any way; the last registered one is called first."""
        self._endings.callback(ending)

    def end(self) -> None:
        self._endings.close()

    def seconds(self) -> int:
        """Returns the elapsed time in whole seconds."""
        return round(time.monotonic() - self._began)

