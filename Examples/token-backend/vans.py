#!/usr/bin/env python3
"""Manages the enrolled vans, one file per van: `vans.py enrol VAN` adds a van, `vans.py revoke VAN` removes it."""

from __future__ import annotations

import argparse
import hashlib
import hmac
import json
import os
import re
import secrets
import sys
from datetime import datetime, timezone
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

# An id becomes a file name and a claim; the claim * would permit everything.
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~-]{0,63}")


class CommandError(Exception):
    """The reason why a command fails, with a remedy."""


class Vans:
    """A directory with one file per van. A file contains only a hash, which doesn't suffice to get a token.

    Every lookup reads the file, so a revocation takes effect at once.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def enrol(self, van: str, certificate: x509.Certificate | None = None) -> str | None:
        """Enrols a van by its certificate, or by a new key, which is returned and stored nowhere."""
        if ID.fullmatch(van) is None:
            raise CommandError(f"{van!r} is not a vehicle id that can be enrolled; use at most 64 letters, digits and . _ ~ -")
        if certificate is None:
            # 256 random bits can't be guessed, so a fast hash without salt protects them.
            key = secrets.token_urlsafe(32)
            record = {"keySHA256": _digest(key.encode())}
        else:
            key = None
            if (name := name_of(certificate)) != van:
                raise CommandError(f"the certificate is for {name!r}; its common name (CN) must be {van!r}")
            if (end := _end(certificate)) < datetime.now(timezone.utc):
                raise CommandError(f"the certificate expired at {end:%Y-%m-%d %H:%M} UTC; have a new one issued")
            record = {"certificateSHA256": _digest(certificate.public_bytes(Encoding.DER))}
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            descriptor = os.open(self._file(van), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise CommandError(f"{van} is already enrolled; revoke it first, which invalidates its credentials") from None
        with open(descriptor, "w") as file:
            json.dump(record, file)
            file.flush()
            os.fsync(file.fileno())
        return key

    def revoke(self, van: str) -> None:
        """Removes the van. A token that it already has stays valid for at most an hour."""
        try:
            if ID.fullmatch(van) is None:
                raise FileNotFoundError
            self._file(van).unlink()
        except FileNotFoundError:
            raise CommandError(f"{van} is not enrolled") from None

    def knows(self, van: str) -> bool:
        return bool(self._record(van))

    def has_key(self, van: str, key: str) -> bool:
        return self._has(van, "keySHA256", key.encode())

    def has_certificate(self, van: str, certificate: x509.Certificate) -> bool:
        return self._has(van, "certificateSHA256", certificate.public_bytes(Encoding.DER))

    def _has(self, van: str, field: str, proof: bytes) -> bool:
        # A key is secret and a certificate isn't, so each is compared with its own field only.
        return hmac.compare_digest(self._record(van).get(field, ""), _digest(proof))

    def _record(self, van: str) -> dict[str, str]:
        if ID.fullmatch(van) is None:
            return {}
        try:
            record: dict[str, str] = json.loads(self._file(van).read_text())
        except (FileNotFoundError, ValueError):  # while its file is being written, a van isn't enrolled yet
            return {}
        return record

    def _file(self, van: str) -> Path:
        return self.directory / f"{van}.json"


def name_of(certificate: x509.Certificate) -> str:
    """Returns a certificate's common name."""
    names = certificate.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
    return str(names[0].value) if names else ""


def _end(certificate: x509.Certificate) -> datetime:
    # Debian 12's library has only the second attribute, which newer versions deprecate.
    if hasattr(certificate, "not_valid_after_utc"):
        return certificate.not_valid_after_utc
    return certificate.not_valid_after.replace(tzinfo=timezone.utc)


def _digest(proof: bytes) -> str:
    return hashlib.sha256(proof).hexdigest()


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="vans.py", description=__doc__)
    parser.add_argument("--vans", type=Path, default=os.environ.get("VANS") or None,
                        help="the directory of the enrolled vans (default: $VANS)")
    commands = parser.add_subparsers(dest="command", required=True)
    enrol = commands.add_parser("enrol", help="enrol a van and print its new credentials, VAN:KEY, which are stored nowhere else")
    enrol.add_argument("van")
    enrol.add_argument("--certificate", type=Path, help="enrol the van by this client certificate (PEM) instead of a key")
    commands.add_parser("revoke", help="remove a van; takes effect at once").add_argument("van")
    given = parser.parse_args(words)
    if given.vans is None:
        parser.error("no directory of vans is given; use --vans DIRECTORY, or set VANS in the environment")
    vans = Vans(given.vans)
    try:
        if given.command == "revoke":
            vans.revoke(given.van)
            print(f"{given.van} no longer gets tokens", file=sys.stderr)
        elif given.certificate:
            vans.enrol(given.van, x509.load_pem_x509_certificate(given.certificate.read_bytes()))
            print(f"{given.van} is enrolled by its certificate", file=sys.stderr)
        else:
            print(f"{given.van}:{vans.enrol(given.van)}")
    except (CommandError, OSError, ValueError) as problem:
        print(f"vans.py: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
