"""A token backend for Waypost: signs Fleet Engine tokens for vans that prove who they are."""

from __future__ import annotations

import base64
import json
import math
import os
import sys
import time
import urllib.parse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from flask import Flask, Response, jsonify, request
from werkzeug.exceptions import HTTPException

import signing
from allowance import Allowance
from runs import Runs
from vans import ID, Vans, name_of

FLEET_ENGINE = "https://fleetengine.googleapis.com"
# A van asks two or three times per hour, and at most every 20 s while Fleet Engine rejects its tokens.
VAN_BURST, VAN_SECONDS = 20, 20.0
# Unauthenticated callers share one allowance. When it is used up, their rejections aren't logged.
STRANGERS_BURST, STRANGERS_SECONDS = 60, 1.0
RETRY_SECONDS = 30


class Kind(NamedTuple):
    """A kind of token: the variable that names the signing account, the token's claim, and its key in the answer."""

    account: str
    claim: str
    key: str


KINDS = {
    "driver": Kind("DRIVER_ACCOUNT", "vehicleid", "VEHICLE_TOKEN_KEY"),
    "delivery_driver": Kind("DELIVERY_ACCOUNT", "deliveryvehicleid", "VEHICLE_TOKEN_KEY"),
    "consumer": Kind("CONSUMER_ACCOUNT", "tripid", "TRIP_TOKEN_KEY"),
}


class Rejected(Exception):
    """The answer to a caller that gets no token; `logged`, if given, is written to the log."""

    def __init__(self, status: int, error: str, logged: str | None = None, wait: float = 0) -> None:
        self.status, self.error, self.logged, self.wait = status, error, logged, wait


def log(severity: str, message: str) -> None:
    """Writes a JSON line for Cloud Logging. A message never contains text from an unauthenticated caller."""
    print(json.dumps({"severity": severity, "message": message}), flush=True)


def make(
    vans: Vans, signers: Mapping[str, signing.Signer], vehicle_of_trip: Callable[[str, str], str | None],
    certificate_header: str | None = None, clock: Callable[[], float] = time.time,
    monotonic: Callable[[], float] = time.monotonic,
) -> Flask:
    """Returns the application. `signers` has a signer per kind of token; `vehicle_of_trip` asks Fleet Engine with the
    trip's token. The certificate's header is trusted, so only a proxy that sets it may reach this application."""
    app = Flask(__name__)
    van_allowance = Allowance(VAN_BURST, VAN_SECONDS, monotonic)
    strangers = Allowance(STRANGERS_BURST, STRANGERS_SECONDS, monotonic)
    runs = Runs()

    @app.get("/token/<kind>/<id>")
    def sign(kind: str, id: str) -> Response:
        van = authenticated()
        if wait := van_allowance.wait(van):
            raise Rejected(429, f"{van} asks too often", f"{van} asks too often", wait)
        if (run := request.headers.get("Waypost-Run-ID")) and runs.has_returned(van, run[:32]):
            log("WARNING", f"two gateways use the credential of {van}; enrol each with a vehicle id of its own")
        if (signer := signers.get(kind)) is None:
            raise Rejected(404, "this backend does not sign tokens of this kind", f"{van} asked for an unknown kind of token")
        if kind != "consumer" and id != van:
            raise Rejected(403, f"{van} may only have its own tokens", f"{van} asked for another vehicle's token")
        if ID.fullmatch(id) is None:
            raise Rejected(403, "this backend does not sign tokens for this id", f"{van} asked for a token for an invalid id")
        token, expiry = signing.token(signer, {KINDS[kind].claim: id}, clock())
        # The trip's token can only read the trip, so it can be used to find the trip's vehicle before the caller gets it.
        if kind == "consumer" and vehicle_of_trip(token, id) != van:
            raise Rejected(403, f"{id} is not a trip of {van}", f"{van} asked for a trip that is not its own")
        log("INFO", f"{kind} token for {id}" + (f", requested by {van}" if id != van else ""))
        return jsonify({KINDS[kind].key: token, "TOKEN_EXPIRATION": expiry})

    def authenticated() -> str:
        """Returns the van that has proved its identity."""
        claimed = ""
        sent = request.headers.get(certificate_header) if certificate_header else None
        if sent and (certificate := certificate_in(sent)):
            claimed = name_of(certificate)
            if vans.has_certificate(claimed, certificate):
                return claimed
        elif (given := request.authorization) and given.type == "basic":
            claimed = given.username or ""
            if vans.has_key(claimed, given.password or ""):
                return claimed
        if wait := strangers.wait(""):
            raise Rejected(429, "too many unauthenticated requests", None, wait)
        # A known name may be logged; a stranger's may be anything, even a secret.
        who = f"a caller that claims to be {claimed}" if vans.knows(claimed) else "an unknown caller"
        raise Rejected(401, "the caller has not proved to be an enrolled van", f"{who} was rejected")

    @app.errorhandler(Rejected)
    def rejected(problem: Rejected) -> Response:
        if problem.logged:
            log("WARNING", problem.logged)
        return failure(problem.status, problem.error, problem.wait)

    @app.errorhandler(HTTPException)
    def unknown(problem: HTTPException) -> Response:
        return failure(problem.code or 500, problem.name)

    @app.errorhandler(signing.Unavailable)
    def unavailable(problem: signing.Unavailable) -> Response:
        log("ERROR", str(problem))
        return failure(503, "no token can be signed now", RETRY_SECONDS)

    @app.errorhandler(Exception)
    def failed(problem: Exception) -> Response:
        # The message isn't logged, because it may contain a secret.
        log("ERROR", f"{type(problem).__name__} while answering a request")
        return failure(503, "no token can be signed now", RETRY_SECONDS)

    def failure(status: int, error: str, wait: float = 0) -> Response:
        answer = jsonify({"error": error})
        answer.status_code = status
        if status == 401:
            answer.headers["WWW-Authenticate"] = 'Basic realm="vans"'
        if wait:
            answer.headers["Retry-After"] = str(math.ceil(wait))
        return answer

    @app.after_request
    def uncached(answer: Response) -> Response:
        answer.headers["Cache-Control"] = "no-store"
        return answer

    return app


def certificate_in(header: str) -> x509.Certificate | None:
    """Returns the certificate in nginx's form (PEM, percent-encoded) or RFC 9440's (`:BASE64:`); `None` if it is
    malformed."""
    try:
        if header.startswith(":"):
            certificate = x509.load_der_x509_certificate(base64.b64decode(header.strip(":"), validate=True))
        else:
            certificate = x509.load_pem_x509_certificate(urllib.parse.unquote_to_bytes(header))
        name_of(certificate)  # the library parses each part lazily
        return certificate
    except Exception:  # the library raises different errors for different parts
        return None


def fleet_engine(origin: str, provider: str) -> Callable[[str, str], str | None]:
    """Returns a function that asks Fleet Engine for a trip's vehicle; `None` if there is none."""

    def vehicle_of_trip(token: str, trip: str) -> str | None:
        found = signing.fetch(f"{origin}/v1/providers/{urllib.parse.quote(provider, safe='')}/trips/{trip}", token, missing={})
        return found.get("vehicleId") or None

    return vehicle_of_trip


def from_environment(environment: Mapping[str, str] = os.environ) -> Flask:
    """Returns the application as configured by the environment; exits with a message if a variable is missing or wrong."""

    def required(name: str, meaning: str) -> str:
        if not (value := environment.get(name)):
            sys.exit(f"token-backend: {name} is not set; set it to {meaning}")
        return value

    directory = Path(required("VANS", "the directory in which vans.py enrols the vans"))
    if not directory.is_dir():
        sys.exit(f"token-backend: VANS is {directory}, which is not a directory; vans.py enrol creates it")
    signers = {name: signing.signer(account) for name, kind in KINDS.items() if (account := environment.get(kind.account))}
    if not signers:
        accounts = ", ".join(kind.account for kind in KINDS.values())
        sys.exit(f"token-backend: none of {accounts} is set; set one to a service account's e-mail, or to the path of its key")
    provider = required("PROVIDER_ID", "the Google Cloud project of Fleet Engine") if "consumer" in signers else ""
    return make(vans=Vans(directory), signers=signers, certificate_header=environment.get("CERTIFICATE_HEADER"),
                vehicle_of_trip=fleet_engine(environment.get("FLEET_ENGINE", FLEET_ENGINE), provider))
