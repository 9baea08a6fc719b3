"""Runs one trial: `python3 -m trials kill --kills 50`."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from . import guard
from .arm64 import OtherArchitecture
from .backlog import Backlog
from .clock import WrongClock
from .disk import FullDisk
from .economy import Economy
from .failure import Failed
from .fault import FailingCalls
from .fleet import Fleet
from .image import Image
from .kill import Kills
from .link import BrokenLink
from .load import Load
from .monitoring import Monitoring
from .package import Packages
from .proxy import Proxied
from .reload import Reloads
from .repository import Repository
from .soak import Soak
from .token_backend import TokenBackend
from .token_outage import TokenOutage
from .trial import Trial
from .waypost import ROOT, Waypost

TRIALS: tuple[type[Trial], ...] = (
    Kills, FullDisk, FailingCalls, BrokenLink, Backlog, Soak, WrongClock, TokenOutage, TokenBackend, Packages, Repository, Proxied,
    Image, Fleet, Reloads, Monitoring, OtherArchitecture, Economy, Load)
UNAVAILABLE = 69


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python3 -m trials", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="TRIAL")
    for trial in TRIALS:
        command = commands.add_parser(trial.name.removesuffix("-test"), help=trial.__doc__, description=trial.__doc__)
        for option in trial.options:
            command.add_argument(option.flag, type=option.kind, default=option.default,
                              help=f"{option.help} (default {option.default})")
        if trial.has_seed:
            command.add_argument("--seed", type=int, default=1, help="the seed of random events (default 1)")
        trial.add_options(command)
        command.add_argument("--keep", action="store_true", help="keep logs, outbox and record even if the trial passes")
        command.add_argument("--waypost", help="the binary (default: $WAYPOST, or build/waypost, which is built)")
        command.set_defaults(trial=trial)
    return parser.parse_args(words)


def attempt(trial: type[Trial], options: argparse.Namespace, waypost: Waypost, directory: Path) -> int:
    """Runs the trial in its own process."""
    attempted = trial(options, waypost, directory)
    kept = f"all files are kept in {directory}"
    try:
        try:
            figures = attempted.run()
        finally:
            attempted.end()
    except Failed as failure:
        seed = f"seed {options.seed}; " if trial.has_seed else ""
        print(f"{trial.name}: {failure}\n{seed}{kept}", file=sys.stderr)
        return 1
    except SystemExit:
        print(f"{trial.name}: ended by a signal; {kept}", file=sys.stderr)
        raise
    if options.keep:
        print(kept, file=sys.stderr)
    else:
        shutil.rmtree(directory)
    print(figures)
    return 0


def missing(trial: type[Trial]) -> list[str]:
    """Returns the programs that the trial requires and that aren't installed."""
    return [tool for tool in trial.tools if shutil.which(tool) is None]


def main() -> int:
    options = arguments()
    trial: type[Trial] = options.trial
    if trial.root and os.geteuid() != 0:
        print(f"{trial.name}: {trial.root} needs root", file=sys.stderr)
        return 1
    # In Debian, the directories of servers and of root's tools aren't in the path of other users.
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    if packages := sorted({trial.tools[tool] for tool in missing(trial)}):
        subprocess.run([ROOT / "scripts/install-dependencies", *packages])
        if tools := missing(trial):
            print(f"{trial.name}: not installed: {', '.join(tools)}", file=sys.stderr)
            return UNAVAILABLE
    waypost = Waypost.installed(options.waypost)
    trial.prepare(options)
    # The directory is below the checkout, because /tmp may be in memory, where a commit costs nothing.
    (ROOT / "build").mkdir(exist_ok=True)
    directory = Path(tempfile.mkdtemp(prefix=f"{trial.name}-", dir=ROOT / "build"))
    return guard.run(lambda: attempt(trial, options, waypost, directory))


if __name__ == "__main__":
    sys.exit(main())
