"""Fleet Engine tokens, signed with a service account's key in a file, or by Google."""

from __future__ import annotations

import json
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Protocol

import jwt
from cryptography.hazmat.primitives.serialization import load_pem_private_key

AUDIENCE = "https://fleetengine.googleapis.com/"
LIFE = 3600  # seconds; Fleet Engine rejects tokens with a longer life
METADATA = "http://metadata.google.internal"
IAM = "https://iamcredentials.googleapis.com"
SECONDS = 10  # the time limit for an answer from Google


class Unavailable(Exception):
    """A service that the backend needs is unavailable; the message contains no secret."""


class Signer(Protocol):
    """Signs in the name of a service account."""

    account: str

    def sign(self, claims: dict[str, Any]) -> str: ...


def token(signer: Signer, authorization: dict[str, str], now: float) -> tuple[str, int]:
    """Returns a token with the claim `authorization`, and its expiry."""
    issued = int(now)
    claims = {"iss": signer.account, "sub": signer.account, "aud": AUDIENCE, "iat": issued, "exp": issued + LIFE,
              "authorization": authorization}
    return signer.sign(claims), issued + LIFE


def signer(account: str) -> Signer:
    """Returns the signer of a service account, given by its e-mail or the path of its key (JSON)."""
    return GoogleKey(account) if "@" in account and "/" not in account else KeyFile(Path(account))


class KeyFile:
    """Signs with a key in a file."""

    def __init__(self, path: Path) -> None:
        try:
            content = json.loads(path.read_text())
            self.account, self._id = content["client_email"], content["private_key_id"]
            self._key = load_pem_private_key(content["private_key"].encode(), password=None)
        except OSError as problem:
            raise SystemExit(f"token-backend: {problem}") from None
        except (ValueError, TypeError, KeyError):
            # The file's content isn't shown, because it may be a key.
            raise SystemExit(f"token-backend: {path} is not a service account's key in JSON") from None

    def sign(self, claims: dict[str, Any]) -> str:
        return jwt.encode(claims, self._key, algorithm="RS256", headers={"kid": self._id})


class GoogleKey:
    """Has Google sign with a key that only Google knows. Authenticates as the service account of this process on Cloud Run.

    This process's account needs the role Service Account Token Creator on `account`.
    """

    def __init__(self, account: str, metadata: str = METADATA, iam: str = IAM) -> None:
        self.account, self._metadata, self._iam = account, metadata, iam
        self._access, self._until, self._lock = "", 0.0, threading.Lock()

    def sign(self, claims: dict[str, Any]) -> str:
        answer = fetch(
            f"{self._iam}/v1/projects/-/serviceAccounts/{self.account}:signJwt", self._access_token(),
            body={"payload": json.dumps(claims)})
        signed: str = answer["signedJwt"]
        return signed

    def _access_token(self) -> str:
        with self._lock:
            if time.monotonic() >= self._until:
                answer = fetch(f"{self._metadata}/computeMetadata/v1/instance/service-accounts/default/token",
                               headers={"Metadata-Flavor": "Google"})
                self._access = answer["access_token"]
                self._until = time.monotonic() + answer["expires_in"] - 60
            return self._access


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Rejects redirects, which would receive the token."""

    def redirect_request(self, *_: object) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirect)


def fetch(url: str, bearer: str | None = None, headers: dict[str, str] | None = None, body: object = None,
          missing: Any = None) -> Any:
    """Returns the JSON at an address, or `missing`, if given, after a 404. Raises `Unavailable`, which names only the
    host and the status."""
    host = urllib.request.Request(url).host
    request = urllib.request.Request(url, None if body is None else json.dumps(body).encode(), headers or {})
    request.add_header("Accept", "application/json")
    if body is not None:
        request.add_header("Content-Type", "application/json")
    if bearer is not None:
        request.add_header("Authorization", f"Bearer {bearer}")
    try:
        with _opener.open(request, timeout=SECONDS) as answer:
            return json.loads(answer.read(1 << 20))
    except urllib.error.HTTPError as problem:
        if problem.code == 404 and missing is not None:
            return missing
        raise Unavailable(f"{host} answered {problem.code}") from None
    except (OSError, ValueError) as problem:
        raise Unavailable(f"{host} does not answer: {type(problem).__name__}") from None
