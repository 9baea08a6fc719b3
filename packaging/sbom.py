"""Prints what a binary consists of and needs (BINARY VERSION ARCHITECTURE), or which packages an image has
(--image ROOT NAME VERSION ARCHITECTURE), as SPDX 2.3 in JSON."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import NamedTuple

Element = dict[str, object]


class Debian(NamedTuple):
    """A Debian package as dpkg knows it: its name, its version, and the packages that it depends on or provides."""

    name: str
    version: str
    depends: str
    provides: str


def output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def installed(architecture: str, root: Path = Path("/")) -> dict[str, Debian]:
    """The installed packages of an architecture, by their names and by the names that they provide."""
    form = "${db:Status-Status}\t${Architecture}\t${Package}\t${Version}\t${Pre-Depends}, ${Depends}\t${Provides}\n"
    found: dict[str, Debian] = {}
    provided: dict[str, Debian] = {}
    for line in output("dpkg-query", f"--admindir={root}/var/lib/dpkg", "--show", "--showformat", form).splitlines():
        status, its, *fields = line.split("\t")
        if status == "installed" and its in (architecture, "all"):
            package = Debian(*fields)
            found[package.name] = package
            provided |= {name: package for name in names(package.provides)}
    return provided | found


def names(relation: str) -> list[str]:
    """The names in a field such as `libc6 (>= 2.34), libssl3:any | libssl`."""
    return [name for word in re.split(r"[,|]", relation) if (name := re.split(r"[ (:]", word.strip())[0])]


def closure(first: list[str], packages: dict[str, Debian]) -> dict[str, Debian]:
    """The packages named in `first`, and all that they depend on; of alternatives, the installed ones."""
    found: dict[str, Debian] = {}
    waiting = list(first)
    while waiting:
        package = packages.get(waiting.pop())
        if package is not None and package.name not in found:
            found[package.name] = package
            waiting += names(package.depends)
    return found


def linked(binary: Path, architecture: str) -> list[str]:
    """The Debian packages of the shared libraries that the binary needs."""
    found: list[str] = []
    place = output("dpkg-architecture", "--host-arch", architecture, "--query", "DEB_HOST_MULTIARCH").strip()
    for library in re.findall(r"\(NEEDED\).*\[(.+)\]", output("readelf", "--dynamic", str(binary))):
        # Searches below /lib and /usr/lib; the output is `PACKAGE:ARCHITECTURE: PATH`.
        asked = subprocess.run(["dpkg-query", "--search", f"*/{place}/{library}"], capture_output=True, text=True)
        owner = asked.stdout.partition(":")[0]
        if not owner:
            sys.exit(f"sbom: no Debian package owns {library} of {architecture}")
        found.append(owner)
    return sorted(set(found))


def element(name: str, version: str, supplier: str, license: str, reference: str) -> Element:
    return {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name, "versionInfo": version,
        "supplier": supplier, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
        "licenseConcluded": license, "licenseDeclared": license, "copyrightText": "NOASSERTION",
        "externalRefs": [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": reference}]}


def of_debian(package: Debian, architecture: str) -> Element:
    return element(package.name, package.version, "Organization: Debian", "NOASSERTION",
                   f"pkg:deb/debian/{package.name}@{package.version}?arch={architecture}")


def related(one: Element, kind: str, other: Element) -> Element:
    return {"spdxElementId": one["SPDXID"], "relationshipType": kind, "relatedSpdxElement": other["SPDXID"]}


def write(subject: Element, others: list[Element], relations: list[Element], architecture: str, identity: str) -> None:
    created = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), timezone.utc)
    name = f"{subject['name']}-{subject['versionInfo']}-{architecture}"
    document: Element = {"SPDXID": "SPDXRef-DOCUMENT"}
    json.dump({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", **document, "name": name,
        "documentNamespace": f"https://spdx.org/spdxdocs/{name}-{identity[:16]}",
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: waypost-sbom"]},
        "packages": [subject, *others], "relationships": [related(document, "DESCRIBES", subject), *relations],
    }, sys.stdout, indent=2)
    print()


def of_binary(binary: Path, version: str, architecture: str) -> None:
    """Prints the SBOM of a binary: Swift's runtime inside, the libraries that it needs, and what they depend on, as installed here."""
    swift = re.search(r"Swift version (\S+)", output("swift", "--version"))
    if swift is None:
        sys.exit("sbom: 'swift --version' states no version")
    agent = element("waypost", version, "NOASSERTION", "Apache-2.0", f"pkg:deb/waypost@{version}?arch={architecture}")
    runtime = element("swift-runtime", swift[1], "Organization: Swift project", "Apache-2.0 WITH Swift-exception",
                      f"pkg:github/swiftlang/swift@swift-{swift[1]}-RELEASE")
    packages = installed(architecture)
    named = linked(binary, architecture)
    needed = closure([*named, "ca-certificates"], packages)
    elements = {name: of_debian(package, architecture) for name, package in sorted(needed.items())}
    relations = [related(agent, "STATIC_LINK", runtime)]
    relations += [related(agent, "DYNAMIC_LINK", elements[name]) for name in named]
    for name, package in sorted(needed.items()):
        others = sorted({packages[other].name for other in names(package.depends) if other in packages} - {name})
        relations += [related(elements[name], "DEPENDS_ON", elements[other]) for other in others]
    write(agent, [runtime, *elements.values()], relations, architecture, hashlib.sha256(binary.read_bytes()).hexdigest())


def of_image(root: Path, name: str, version: str, architecture: str) -> None:
    """Prints the SBOM of an image: every package that dpkg knows in its root."""
    image = element(name, version, "NOASSERTION", "Apache-2.0", f"pkg:oci/{name}@{version}?arch={architecture}")
    packages = {package.name: package for package in installed(architecture, root).values()}
    elements = [of_debian(package, architecture) for _, package in sorted(packages.items())]
    identity = hashlib.sha256(json.dumps(elements).encode()).hexdigest()
    write(image, elements, [related(image, "CONTAINS", one) for one in elements], architecture, identity)


def main() -> None:
    match sys.argv[1:]:
        case ["--image", root, name, version, architecture]:
            of_image(Path(root), name, version, architecture)
        case [binary, version, architecture]:
            of_binary(Path(binary), version, architecture)
        case _:
            sys.exit("usage: sbom.py BINARY VERSION ARCHITECTURE | sbom.py --image ROOT NAME VERSION ARCHITECTURE")


if __name__ == "__main__":
    main()
