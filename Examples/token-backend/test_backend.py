"""Tests of the backend's answers, files and messages, with a simulated time, Google and Fleet Engine."""

from __future__ import annotations

import base64
import contextlib
import datetime
import io
import json
import os
import stat
import tempfile
import threading
import unittest
import unittest.mock
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jwt
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

import backend
import signing
import vans

NOW = 1_767_608_130.5
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
PEM = KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
TRIPS = {"trip-7": "van-7", "trip-8": "van-8"}


def certificate(name: str, years_ago: int = 0) -> x509.Certificate:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    begin = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=1 + 365 * years_ago)
    return x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number(), begin,
                                   begin + datetime.timedelta(days=365)).sign(key, hashes.SHA256())


class InDirectory(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.vans = vans.Vans(self.directory / "vans")

    def key_file(self, account: str) -> str:
        path = self.directory / f"{account}.json"
        path.write_text(json.dumps({"client_email": f"{account}@p.iam.gserviceaccount.com", "private_key_id": "key-1",
                                    "private_key": PEM}))
        return str(path)


class Tokens(InDirectory):
    """The application and its log."""

    def setUp(self) -> None:
        super().setUp()
        self.said = io.StringIO()
        self.enterContext(contextlib.redirect_stdout(self.said))
        self.enterContext(contextlib.redirect_stderr(self.said))
        self.key = self.vans.enrol("van-7") or ""
        self.seconds = 0.0
        self.signers: dict[str, signing.Signer] = {kind: signing.KeyFile(Path(self.key_file(kind))) for kind in backend.KINDS}
        self.client = self.made()

    def made(self, header: str | None = None) -> Any:
        return backend.make(
            self.vans, self.signers, lambda token, trip: TRIPS.get(trip), header, clock=lambda: NOW,
            monotonic=lambda: self.seconds).test_client()

    def ask(self, path: str, van: str = "van-7", key: str | None = None, **headers: str) -> Any:
        return self.client.get("/token/" + path, auth=(van, self.key if key is None else key), headers=headers)

    def claims(self, answer: Any, name: str = "VEHICLE_TOKEN_KEY") -> dict[str, Any]:
        self.assertEqual(answer.status_code, 200, answer.text)
        claims: dict[str, Any] = jwt.decode(
            answer.json[name], KEY.public_key(), algorithms=["RS256"], audience="https://fleetengine.googleapis.com/",
            options={"verify_exp": False, "verify_iat": False})
        return claims

    def test_have_the_form_that_fleet_engine_requires(self) -> None:
        answer = self.ask("driver/van-7")
        account = "driver@p.iam.gserviceaccount.com"
        self.assertEqual(self.claims(answer), {
            "iss": account, "sub": account, "aud": "https://fleetengine.googleapis.com/", "iat": 1_767_608_130,
            "exp": 1_767_611_730, "authorization": {"vehicleid": "van-7"}})
        self.assertEqual(jwt.get_unverified_header(answer.json["VEHICLE_TOKEN_KEY"]),
                         {"alg": "RS256", "typ": "JWT", "kid": "key-1"})
        self.assertEqual(answer.json["TOKEN_EXPIRATION"], 1_767_611_730)
        self.assertEqual(answer.headers["Cache-Control"], "no-store")

    def test_are_signed_by_the_account_of_their_kind(self) -> None:
        delivery = self.claims(self.ask("delivery_driver/van-7"))
        self.assertEqual((delivery["iss"], delivery["authorization"]),
                         ("delivery_driver@p.iam.gserviceaccount.com", {"deliveryvehicleid": "van-7"}))
        trip = self.claims(self.ask("consumer/trip-7"), "TRIP_TOKEN_KEY")
        self.assertEqual((trip["iss"], trip["authorization"]), ("consumer@p.iam.gserviceaccount.com", {"tripid": "trip-7"}))

    def test_are_only_for_the_vans_own_vehicle_and_trips(self) -> None:
        self.vans.enrol("van-8")
        for path in ["driver/van-8", "delivery_driver/van-8", "driver/*", "driver/van-70", "consumer/trip-8", "consumer/*",
                     "consumer/trip-of-nobody"]:
            with self.subTest(path):
                answer = self.ask(path)
                self.assertEqual(answer.status_code, 403)
                self.assertEqual(list(answer.json), ["error"])

    def test_require_authentication(self) -> None:
        other = self.vans.enrol("van-8") or ""
        answers = [self.ask("driver/van-7", key=key) for key in ["", "wrong", self.key[:-1], other]]
        answers += [self.ask("driver/van-9", van) for van in ["van-9", "", "../van-7", "van-7.json", "a" * 300, "ü"]]
        answers += [self.client.get("/token/driver/van-7", headers=headers) for headers in [
            {}, {"Authorization": "Basic"}, {"Authorization": "Basic %%%"}, {"Authorization": f"Bearer {self.key}"}]]
        for answer in answers:
            self.assertEqual((answer.status_code, answer.json), (401, answers[0].json))
            self.assertIn("Basic", answer.headers["WWW-Authenticate"])

    def test_are_withheld_after_a_revocation(self) -> None:
        self.assertEqual(self.ask("driver/van-7").status_code, 200)
        self.vans.revoke("van-7")
        self.assertEqual(self.ask("driver/van-7").status_code, 401)
        new = self.vans.enrol("van-7") or ""
        self.assertEqual(self.ask("driver/van-7").status_code, 401)
        self.assertEqual(self.ask("driver/van-7", key=new).status_code, 200)

    def test_are_available_with_a_certificate(self) -> None:
        mine, others = certificate("van-5"), certificate("van-5")
        self.vans.enrol("van-5", mine)
        pem = urllib.parse.quote(mine.public_bytes(Encoding.PEM))
        der = base64.b64encode(mine.public_bytes(Encoding.DER)).decode()
        self.assertEqual(self.client.get("/token/driver/van-5", headers={"Client-Cert": pem}).status_code, 401,
                         "the header is trusted only if it is configured")
        self.client = self.made("Client-Cert")
        for sent in [pem, f":{der}:"]:
            self.claims(self.client.get("/token/driver/van-5", headers={"Client-Cert": sent}))
        foreign = urllib.parse.quote(others.public_bytes(Encoding.PEM))
        for sent in [foreign, pem[:-100], ":!:", "van-5"]:
            self.assertEqual(self.client.get("/token/driver/van-5", headers={"Client-Cert": sent}).status_code, 401)
        self.assertEqual(self.client.get("/token/driver/van-7", headers={"Client-Cert": pem}).status_code, 403)
        self.claims(self.ask("driver/van-7"))

    def test_treat_a_malformed_certificate_as_missing(self) -> None:
        der = certificate("van-5").public_bytes(Encoding.DER)
        self.client = self.made("Client-Cert")
        for place in range(len(der)):
            damaged = base64.b64encode(der[:place] + bytes([der[place] ^ 0xFF]) + der[place + 1:]).decode()
            answer = self.client.get("/token/driver/van-5", headers={"Client-Cert": f":{damaged}:"})
            self.assertIn(answer.status_code, (401, 429), f"byte {place}")
        self.assertNotIn("ERROR", self.said.getvalue())
        for malformed in [":!:", "van-5", ":AAAA:", "\u00fc"]:
            self.claims(self.client.get("/token/driver/van-7", auth=("van-7", self.key), headers={"Client-Cert": malformed}))

    def test_require_more_than_the_public_parts_of_a_certificate(self) -> None:
        mine = certificate("van-5")
        self.vans.enrol("van-5", mine)
        for public in [mine.public_bytes(Encoding.DER).decode("latin-1"), mine.public_bytes(Encoding.PEM).decode(),
                       (self.directory / "vans/van-5.json").read_text()]:
            self.assertEqual(self.ask("driver/van-5", "van-5", public).status_code, 401)

    def test_are_limited_per_van(self) -> None:
        other = self.vans.enrol("van-8") or ""
        statuses = [self.ask("driver/van-7").status_code for _ in range(backend.VAN_BURST + 1)]
        self.assertEqual(statuses, [200] * backend.VAN_BURST + [429])
        self.assertEqual(self.ask("driver/van-7").headers["Retry-After"], "20")
        self.assertEqual(self.ask("driver/van-8", "van-8", other).status_code, 200)
        self.seconds += backend.VAN_SECONDS
        self.assertEqual([self.ask("driver/van-7").status_code for _ in range(2)], [200, 429])

    def test_for_two_gateways_of_one_van_cause_a_warning(self) -> None:
        other = self.vans.enrol("van-8") or ""

        def warnings(*runs: str) -> int:
            before = len(self.said.getvalue())
            for run in runs:
                self.assertEqual(self.ask("driver/van-7", **({"Waypost-Run-ID": run} if run else {})).status_code, 200)
            return self.said.getvalue()[before:].count("two gateways use the credential of van-7;")

        # A gateway that starts again and again, and requests without an id, such as those of `waypost token`.
        self.assertEqual(warnings("1", "1", "", "2", "3", "", "3", "4", "5"), 0)
        self.ask("driver/van-8", "van-8", other, **{"Waypost-Run-ID": "5"})
        self.assertEqual(warnings("6", "5", "5", "6"), 2)

    def test_are_available_to_vans_while_strangers_ask(self) -> None:
        statuses = {self.ask("driver/van-7", key="wrong").status_code for _ in range(backend.STRANGERS_BURST + 20)}
        self.assertEqual(statuses, {401, 429})
        self.assertLessEqual(len(self.said.getvalue().splitlines()), backend.STRANGERS_BURST)
        self.assertEqual(self.ask("driver/van-7").status_code, 200)

    def test_are_unavailable_if_nothing_can_be_signed(self) -> None:
        class Failing:
            account = "a@b"

            def __init__(self, problem: Exception) -> None:
                self.problem = problem

            def sign(self, claims: dict[str, Any]) -> str:
                raise self.problem

        for problem in [signing.Unavailable("iam answered 500"), RuntimeError(f"key {self.key}")]:
            self.signers["driver"] = Failing(problem)
            answer = self.ask("driver/van-7")
            self.assertEqual((answer.status_code, answer.headers["Retry-After"]), (503, "30"))

    def test_are_only_of_kinds_that_have_an_account(self) -> None:
        del self.signers["consumer"]
        for path in ["consumer/trip-7", "server/van-7", "driver"]:
            self.assertEqual(self.ask(path).status_code, 404)
        self.assertEqual(self.client.post("/token/driver/van-7").status_code, 405)

    def test_leave_no_secret_in_the_log(self) -> None:
        tokens = [self.ask(path).text for path in ["driver/van-7", "consumer/trip-7", "driver/van-8"]]
        self.ask("driver/van-7", key="not-this-one-either")
        self.ask("driver/secret-in-a-path", "secret-in-a-name")
        self.test_are_unavailable_if_nothing_can_be_signed()
        said = self.said.getvalue()
        self.assertIn("driver token for van-7", said)
        self.assertIn("a caller that claims to be van-7", said)
        for line in said.splitlines():
            self.assertEqual(list(json.loads(line)), ["severity", "message"])
        for secret in [self.key, "not-this-one-either", "secret-in", "PRIVATE", "eyJ", *(text[30:60] for text in tokens)]:
            self.assertNotIn(secret, said)


class Enrolment(InDirectory):
    def command(self, *words: str) -> tuple[int, str, str]:
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as errors:
            status = vans.main(["--vans", str(self.directory / "vans"), *words])
        return status, out.getvalue(), errors.getvalue()

    def test_requires_a_directory(self) -> None:
        with unittest.mock.patch.dict(os.environ, VANS=""), contextlib.redirect_stderr(io.StringIO()) as said, \
                self.assertRaises(SystemExit):
            vans.main(["enrol", "van-7"])
        self.assertIn("no directory of vans is given", said.getvalue())

    def test_prints_the_key_once_and_keeps_a_hash(self) -> None:
        status, out, errors = self.command("enrol", "van-7")
        van, key = out.rstrip("\n").split(":")
        self.assertEqual((status, van, errors), (0, "van-7", ""))
        self.assertTrue(self.vans.has_key("van-7", key))
        kept = self.directory / "vans/van-7.json"
        self.assertNotIn(key, kept.read_text())
        self.assertEqual(stat.S_IMODE(kept.stat().st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(kept.parent.stat().st_mode), 0o700)
        self.assertNotIn(key, "".join(self.command("enrol", "van-7")[1:]))
        self.assertTrue(self.vans.has_key("van-7", key))

    def test_reports_errors(self) -> None:
        self.command("enrol", "van-7")
        (self.directory / "van-5.pem").write_bytes(certificate("van-5").public_bytes(Encoding.PEM))
        (self.directory / "old.pem").write_bytes(certificate("van-6", years_ago=1).public_bytes(Encoding.PEM))
        (self.directory / "no.pem").write_text("none")
        for words, message in [
            (("enrol", "van-7"), "already enrolled; revoke it first"), (("revoke", "van-8"), "van-8 is not enrolled"),
            (("enrol", "*"), "not a vehicle id"), (("enrol", "../van"), "not a vehicle id"), (("revoke", "../vans"), "not enrolled"),
            (("enrol", "van-6", "--certificate", str(self.directory / "van-5.pem")), "for 'van-5'"),
            (("enrol", "van-6", "--certificate", str(self.directory / "old.pem")), "UTC; have a new one issued"),
            (("enrol", "van-6", "--certificate", str(self.directory / "no.pem")), "vans.py: "),
            (("enrol", "van-6", "--certificate", str(self.directory / "none")), "No such file"),
        ]:
            status, out, errors = self.command(*words)
            self.assertEqual((status, out), (1, ""))
            self.assertIn(message, errors)
        self.assertEqual(os.listdir(self.directory / "vans"), ["van-7.json"])

    def test_by_certificate_prints_nothing(self) -> None:
        path = self.directory / "van-5.pem"
        path.write_bytes(certificate("van-5").public_bytes(Encoding.PEM))
        self.assertEqual(self.command("enrol", "van-5", "--certificate", str(path))[:2], (0, ""))
        self.assertEqual(self.command("revoke", "van-5")[0], 0)
        self.assertFalse(self.vans.knows("van-5"))

    def test_is_void_if_its_file_is_incomplete(self) -> None:
        self.command("enrol", "van-7")
        (self.directory / "vans/van-7.json").write_text('{"keySHA')
        self.assertFalse(self.vans.knows("van-7"))
        self.assertEqual(self.command("revoke", "van-7")[0], 0)


class Google(BaseHTTPRequestHandler):
    """A server in place of the metadata server, IAM and Fleet Engine."""

    asked: list[tuple[str, str | None]] = []
    status = 200

    def answer(self) -> None:
        self.asked.append((self.path, self.headers.get("Authorization")))
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        content: dict[str, Any] = {}
        if self.path.endswith("/default/token") and self.headers.get("Metadata-Flavor") == "Google":
            content = {"access_token": "access", "expires_in": 3599}
        elif self.path.endswith(":signJwt") and self.headers.get("Authorization") == "Bearer access":
            content = {"keyId": "k", "signedJwt": jwt.encode(json.loads(json.loads(body)["payload"]), KEY, "RS256")}
        elif self.path == "/v1/providers/my%2Fproject/trips/trip-7":
            content = {"vehicleId": "van-7"}
        self.send_response(self.status if content else 404)
        self.send_header("Location", "/elsewhere")
        self.end_headers()
        self.wfile.write(json.dumps(content).encode())

    do_GET = do_POST = answer

    def log_message(self, *_: object) -> None:
        pass


class AtGoogle(unittest.TestCase):
    def setUp(self) -> None:
        Google.asked, Google.status = [], 200
        server = ThreadingHTTPServer(("127.0.0.1", 0), Google)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.origin = f"http://127.0.0.1:{server.server_port}"
        self.signer = signing.GoogleKey("driver@p.iam.gserviceaccount.com", self.origin, self.origin)

    def test_tokens_are_signed(self) -> None:
        for _ in range(2):
            signed, expiry = signing.token(self.signer, {"vehicleid": "van-7"}, NOW)
            claims = jwt.decode(signed, KEY.public_key(), algorithms=["RS256"], audience=signing.AUDIENCE,
                                options={"verify_exp": False, "verify_iat": False})
            self.assertEqual((claims["authorization"], claims["exp"]), ({"vehicleid": "van-7"}, expiry))
        signings = ("/v1/projects/-/serviceAccounts/driver@p.iam.gserviceaccount.com:signJwt", "Bearer access")
        access = ("/computeMetadata/v1/instance/service-accounts/default/token", None)
        self.assertEqual(Google.asked, [access, signings, signings])

    def test_trips_have_a_vehicle(self) -> None:
        vehicle_of_trip = backend.fleet_engine(self.origin, "my/project")
        self.assertEqual(vehicle_of_trip("eyJ", "trip-7"), "van-7")
        self.assertIsNone(vehicle_of_trip("eyJ", "trip-8"))
        self.assertEqual(Google.asked[0][1], "Bearer eyJ")

    def test_failures_name_only_host_and_status(self) -> None:
        for status in [302, 403, 500]:
            Google.status, Google.asked = status, []
            with self.assertRaisesRegex(signing.Unavailable, f"^127.0.0.1:[0-9]+ answered {status}$"):
                signing.token(self.signer, {"vehicleid": "van-7"}, NOW)
            self.assertEqual(len(Google.asked), 1, "a redirect is not followed")
        with self.assertRaisesRegex(signing.Unavailable, "does not answer"):
            signing.fetch("http://127.0.0.1:1/secret", "eyJ")


class Start(InDirectory):
    def test_reports_what_is_missing(self) -> None:
        directory = self.directory / "vans"
        directory.mkdir()
        broken = self.directory / "broken.json"
        broken.write_text('{"client_email": "x", "private_key_id": "y", "private_key": "secret"}')
        given = {"VANS": str(directory)}
        for environment, message in [
            ({}, "VANS is not set"), ({"VANS": "/nowhere"}, "not a directory"), (given, "none of DRIVER_ACCOUNT"),
            (given | {"CONSUMER_ACCOUNT": "a@b"}, "PROVIDER_ID is not set"),
            (given | {"DRIVER_ACCOUNT": "/nowhere.json"}, "No such file"),
            (given | {"DRIVER_ACCOUNT": str(broken)}, "not a service account's key"),
        ]:
            with self.subTest(message), self.assertRaisesRegex(SystemExit, message) as ended:
                backend.from_environment(environment)
            self.assertNotIn("secret", str(ended.exception))

    def test_accepts_key_files_and_accounts(self) -> None:
        (self.directory / "vans").mkdir()
        backend.from_environment({
            "VANS": str(self.directory / "vans"), "PROVIDER_ID": "p", "DRIVER_ACCOUNT": self.key_file("driver"),
            "CONSUMER_ACCOUNT": "consumer@p.iam.gserviceaccount.com"})


if __name__ == "__main__":
    unittest.main()
