"""The files in packaging/monitoring, with a real Prometheus on either side."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.parse
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from .dashboard import page
from .drive import sentence
from .failure import Failed, require
from .network import fetch, free_port
from .processes import ONE_COMMAND_SECONDS, call, end_now
from .service import Feed, Service
from .simulator import Simulator
from .trial import Option, Trial, count
from .waiting import until
from .waypost import ROOT, configuration

FILES = ROOT / "packaging/monitoring"
VEHICLE = "van-1"
INTERVAL = 5  # seconds between two scrapes; in production it is a minute
WAIT_SECONDS = 60
MINUTES_PER_MONTH = 30 * 24 * 60
OF_PROMETHEUS = 5  # Prometheus's own series of each scrape: up, scrape_duration_seconds and the like
# Metrics that are exported only once their event has occurred.
CONDITIONAL = {"waypost_seconds_since_token_rejection"}


class Monitoring(Trial):
    """Sends a service's metrics from a Prometheus agent to another Prometheus, which evaluates rules and dashboard."""

    name = "monitoring-test"
    options = (Option("--seconds", 40, "how many seconds metrics are sent", count),)
    tools = {"prometheus": "prometheus", "promtool": "prometheus"}

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--draw", metavar="FILE", help="write the dashboard to FILE, as a page that needs no Grafana")

    def run(self) -> str:
        call("promtool", "check", "rules", FILES / "waypost.rules.yml")
        call("promtool", "test", "rules", FILES / "waypost.rules.test.yml")
        call("promtool", "check", "config", FILES / "fleet.yml")
        call("promtool", "check", "config", "--agent", FILES / "van.yml")
        service = self.service()
        output = fetch(f"http://127.0.0.1:{service.port}/metrics")
        check_metrics(output)
        stated = set(re.findall(r"^# TYPE (\w+) ", output, re.MULTILINE))
        rules = (FILES / "waypost.rules.yml").read_text()
        dashboard = json.loads((FILES / "grafana.json").read_text())
        check_metric_names([rules, *queries(dashboard)], stated)
        fleet, port = self.fleet()
        agent, agent_port = self.agent(service, port, "full")
        self.wait("the fleet's Prometheus has the van's metrics", lambda: ask(port, f'waypost_build_info{{vehicle="{VEHICLE}"}}'))
        self.drive(service)
        if self.arguments.draw:
            end = time.time()
            start = end - self.arguments.seconds
            since = f"&start={start}&end={end}&step=1"
            Path(self.arguments.draw).write_text(page(dashboard, lambda query, is_instant: ask(
                port, plain(query), "" if is_instant else since), (start, end)))
        empty = [query for query in queries(dashboard) if not ask(port, query)]
        # The vehicle has no problem, so no condition has data and no alert fires.
        require(
            f"queries without data: {empty}",
            ("the dashboard has panels without data", all("waypost_condition" in query for query in empty)),
            ("an alert fires", not ask(port, 'ALERTS{alertstate="firing"}')),
            ("the rules are not evaluated", bool(ask(port, "fleet:waypost_vans:count"))))
        full = costs(agent, agent_port)
        end_now(agent)
        agent, agent_port = self.agent(service, port, "fleet")
        self.drive(service)
        fleet_profile = costs(agent, agent_port)
        end_now(fleet)
        return require(
            f"rules, tests and dashboard are correct; {full}; with profile=fleet {fleet_profile}",
            ("more than 12 series of Waypost", fleet_profile.series - OF_PROMETHEUS < 12.5))

    def drive(self, service: Service) -> None:
        for _ in range(0, self.arguments.seconds, INTERVAL):
            service.write(sky())
            time.sleep(INTERVAL)

    def service(self) -> Service:
        simulator = Simulator(self.waypost, self.directory)
        self.ends_with(simulator.stop)
        simulator.start()
        configured = configuration(
            self.directory / "config.json", simulator.origin, vehicle=VEHICLE, reporting={"intervalSeconds": 5})
        service = Service(self.waypost, configured, self.directory / "service.log")
        self.ends_with(service.kill)
        feed = Feed(service)
        self.ends_with(feed.end)
        service.write(sky())
        service.wait("a delivery and the sky", lambda: has_delivery_and_sky(service), WAIT_SECONDS)
        return service

    def fleet(self) -> tuple[subprocess.Popen[bytes], int]:
        """Starts the fleet's Prometheus. Returns its process and port."""
        port, config = free_port(), self.directory / "fleet.yml"
        shutil.copy(FILES / "waypost.rules.yml", self.directory)
        config.write_text(replaced((FILES / "fleet.yml").read_text(), "evaluation_interval: 60s", "evaluation_interval: 5s"))
        return self.prometheus(
            "fleet", port, f"--config.file={config}", f"--storage.tsdb.path={self.directory / 'fleet'}",
            "--web.enable-remote-write-receiver"), port

    def agent(self, service: Service, port: int, profile: str) -> tuple[subprocess.Popen[bytes], int]:
        """Starts the van's Prometheus. Returns its process and port."""
        config, own = self.directory / f"van-{profile}.yml", free_port()
        text = (FILES / "van.yml").read_text()
        text = replaced(text, "127.0.0.1:9464", f"127.0.0.1:{service.port}")
        text = replaced(text, "https://metrics.example.com/api/v1/write", f"http://127.0.0.1:{port}/api/v1/write")
        text = replaced(text, "scrape_interval: 60s", f"scrape_interval: {INTERVAL}s")
        text = replaced(text, "scrape_timeout: 10s", f"scrape_timeout: {INTERVAL}s")
        text = replaced(text, "    # params: {profile: [fleet]}", f"    params: {{profile: [{profile}]}}")
        config.write_text(re.sub(r"\n    tls_config:\n(      .*\n)+", "\n", text))
        return self.prometheus(
            f"van-{profile}", own, "--enable-feature=agent,expand-external-labels", f"--config.file={config}",
            f"--storage.agent.path={self.directory / f'agent-{profile}'}"), own

    def prometheus(self, name: str, port: int, *options: str) -> subprocess.Popen[bytes]:
        log = self.directory / f"{name}.log"
        with open(log, "ab") as words:
            process = subprocess.Popen(
                ["prometheus", f"--web.listen-address=127.0.0.1:{port}", *options], stdin=subprocess.DEVNULL,
                stdout=words, stderr=words, env=os.environ | {"VEHICLE_ID": VEHICLE})
        self.ends_with(lambda: end_now(process))
        self.wait(f"{name}'s Prometheus: {log}", lambda: answers(port))
        return process

    def wait(self, what: str, claim: Any) -> None:
        if not until(claim, WAIT_SECONDS, pause=0.2):
            raise Failed(f"not within {WAIT_SECONDS} s: {what}")


def sky() -> str:
    return sentence("GPGSV,1,1,03,05,42,123,44,07,11,222,31,09,63,301,") + sentence("GNGSA,A,3,05,07,,,,,,,,,,,1.7,0.9,1.3,1")


def has_delivery_and_sky(service: Service) -> bool:
    service.write(sky())
    figures = service.metrics() or {}
    return figures.get("waypost_updates_delivered_total", 0) > 0 and "waypost_satellites_in_view" in figures


def check_metrics(output: str) -> None:
    """Checks the metrics with Prometheus's own tool."""
    judged = subprocess.run(["promtool", "check", "metrics"], input=output, capture_output=True, text=True,
                            timeout=ONE_COMMAND_SECONDS)
    if judged.returncode != 0 or judged.stderr:
        raise Failed(f"promtool check metrics: {judged.stderr}")


def queries(dashboard: dict[str, Any]) -> Iterator[str]:
    """Returns the queries of the panels."""
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield plain(target["expr"])


def plain(query: str) -> str:
    """Returns the query with a value for each variable."""
    return query.replace("$vehicle", ".*").replace("$__rate_interval", "1m")


def check_metric_names(texts: Iterable[str], stated: set[str]) -> None:
    """Fails if a query uses a metric that the service doesn't export."""
    for text in texts:
        # Names of recording rules contain a colon.
        for name in re.findall(r"(?<![\w:])waypost_\w+", text):
            family = name.removesuffix("_bucket")
            if family not in stated | CONDITIONAL:
                raise Failed(f"the service exports no {name}: {text}")


def replaced(text: str, old: str, new: str) -> str:
    if old not in text:
        raise Failed(f"a file in {FILES} lacks: {old}")
    return text.replace(old, new)


def answers(port: int) -> bool:
    try:
        return "Ready" in fetch(f"http://127.0.0.1:{port}/-/ready")
    except (urllib.error.URLError, OSError):
        return False


def ask(port: int, query: str, since: str = "") -> list[dict[str, Any]]:
    """Returns the series that a query gives now or, with `since`, over a time."""
    verb = "query_range" if since else "query"
    try:
        answer = json.loads(fetch(f"http://127.0.0.1:{port}/api/v1/{verb}?query={urllib.parse.quote(query)}{since}"))
    except urllib.error.HTTPError as problem:
        raise Failed(f"{query}: {problem.read().decode()}") from None
    found: list[dict[str, Any]] = answer["data"]["result"]
    return found


class Costs(NamedTuple):
    """The resources that an agent uses in the van."""

    series: float
    bytes_each: float
    resident_mebibytes: float

    def __str__(self) -> str:
        month = self.bytes_each * MINUTES_PER_MONTH / 1e6
        return (f"{self.series:.0f} series, {self.bytes_each:.0f} bytes per scrape, {month:.0f} MB per month at one scrape per minute; "
                f"the agent has {self.resident_mebibytes:.0f} MiB of memory")


def costs(agent: subprocess.Popen[bytes], port: int) -> Costs:
    text = fetch(f"http://127.0.0.1:{port}/metrics")

    def figure(name: str) -> float:
        found = re.search(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.MULTILINE)
        return float(found[1]) if found else 0

    scrapes = figure("prometheus_target_interval_length_seconds_count") + 1
    samples, sent = figure("prometheus_remote_storage_samples_total"), figure("prometheus_remote_storage_bytes_total")
    status = Path(f"/proc/{agent.pid}/status").read_text()
    resident = int(status.split("\nVmRSS:", 1)[1].split(None, 1)[0]) / 1024
    require("the van's Prometheus", ("nothing was sent", samples > 0))
    return Costs(samples / scrapes, sent / scrapes, resident)
