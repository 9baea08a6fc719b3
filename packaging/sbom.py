"""Prints what the binary given consists of and needs, as SPDX 2.3 in JSON: for `make deb`, and for whoever asks."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path


def output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def package(name: str, version: str, supplier: str, license: str, reference: str | None = None) -> dict[str, object]:
    told: dict[str, object] = {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name, "versionInfo": version,
        "supplier": supplier, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
        "licenseConcluded": license, "licenseDeclared": license, "copyrightText": "NOASSERTION"}
    if reference:
        told["externalRefs"] = [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": reference}]
    return told


def libraries(binary: Path, architecture: str) -> dict[str, str]:
    """Debian's package of each shared library that the binary names, and its version."""
    found: dict[str, str] = {}
    place = output("dpkg-architecture", "--host-arch", architecture, "--query", "DEB_HOST_MULTIARCH").strip()
    for library in re.findall(r"\(NEEDED\).*\[(.+)\]", output("readelf", "--dynamic", str(binary))):
        # Below /lib or /usr/lib, as `PACKAGE:ARCHITECTURE: PATH`.
        asked = subprocess.run(["dpkg-query", "--search", f"*/{place}/{library}"], capture_output=True, text=True)
        owner = asked.stdout.partition(": ")[0]
        if not owner:
            sys.exit(f"sbom: no Debian package owns {library} of {architecture}")
        found[owner.split(":")[0]] = output("dpkg-query", "--show", "--showformat", "${Version}", owner)
    return found


def main() -> None:
    if len(sys.argv) != 4:
        sys.exit("usage: sbom.py BINARY VERSION ARCHITECTURE")
    binary, version, architecture = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    swift = re.search(r"Swift version (\S+)", output("swift", "--version"))
    if swift is None:
        sys.exit("sbom: 'swift --version' states no version")
    created = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), timezone.utc)
    digest = hashlib.sha256(binary.read_bytes()).hexdigest()

    agent = package("waypost", version, "NOASSERTION", "Apache-2.0", f"pkg:deb/waypost@{version}?arch={architecture}")
    runtime = package("swift-runtime", swift[1], "Organization: Swift project",
                      "Apache-2.0 WITH Swift-exception", f"pkg:github/swiftlang/swift@swift-{swift[1]}-RELEASE")
    linked = [package(name, told, "Organization: Debian", "NOASSERTION",
                      f"pkg:deb/debian/{name}@{told}?arch={architecture}")
              for name, told in sorted(libraries(binary, architecture).items())]

    def related(kind: str, other: dict[str, object]) -> dict[str, object]:
        return {"spdxElementId": agent["SPDXID"], "relationshipType": kind, "relatedSpdxElement": other["SPDXID"]}

    json.dump({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"waypost-{version}-{architecture}",
        "documentNamespace": f"https://spdx.org/spdxdocs/waypost-{version}-{architecture}-{digest[:16]}",
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: waypost-sbom"]},
        "packages": [agent, runtime, *linked],
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": agent["SPDXID"]},
            related("STATIC_LINK", runtime), *(related("DYNAMIC_LINK", library) for library in linked)],
    }, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
