"""Adds an image to an OCI layout (LAYOUT NAME VERSION ARCHITECTURE ROOT.tar): one layer, and what starts it. Images of
the same version for other architectures stay. Prints the compressed size."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
# 69 is "not running", 1 is "runs, and something is the matter": a vehicle in a garage has no fix, and is no reason to restart.
HEALTH = "waypost status >/dev/null 2>&1 || [ $? -eq 1 ]"


class Layout:
    """An OCI layout: blobs by their digests, and an index of what they are."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.blobs = folder, folder / "blobs/sha256"
        self.blobs.mkdir(parents=True, exist_ok=True)
        (folder / "oci-layout").write_text(json.dumps({"imageLayoutVersion": "1.0.0"}))

    def add(self, media: str, content: bytes) -> dict[str, Any]:
        digest = hashlib.sha256(content).hexdigest()
        (self.blobs / digest).write_bytes(content)
        return {"mediaType": media, "digest": f"sha256:{digest}", "size": len(content)}

    def add_json(self, media: str, document: object) -> dict[str, Any]:
        return self.add(media, json.dumps(document, sort_keys=True).encode())

    def read(self, descriptor: dict[str, Any]) -> Any:
        return json.loads((self.blobs / descriptor["digest"].partition(":")[2]).read_bytes())

    def images(self, version: str) -> list[dict[str, Any]]:
        """The images of that version, one for each architecture."""
        index = self.folder / "index.json"
        if not index.exists():
            return []
        [entry] = json.loads(index.read_text())["manifests"]
        if entry["annotations"]["org.opencontainers.image.ref.name"] != version:
            return []
        found: list[dict[str, Any]] = self.read(entry)["manifests"]
        return found

    def publish(self, version: str, images: list[dict[str, Any]]) -> None:
        entry = self.add_json(INDEX, {"schemaVersion": 2, "mediaType": INDEX, "manifests": images})
        entry["annotations"] = {"org.opencontainers.image.ref.name": version}
        (self.folder / "index.json").write_text(json.dumps(
            {"schemaVersion": 2, "mediaType": INDEX, "manifests": [entry]}, indent=2))
        used = {entry["digest"]}
        for image in images:
            manifest = self.read(image)
            used |= {image["digest"], manifest["config"]["digest"], *(layer["digest"] for layer in manifest["layers"])}
        for blob in self.blobs.iterdir():
            if f"sha256:{blob.name}" not in used:
                blob.unlink()


def configuration(name: str, version: str, architecture: str, layer: bytes) -> dict[str, Any]:
    created = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "created": created, "architecture": architecture, "os": "linux",
        "config": {
            "User": "10001", "WorkingDir": "/var/lib/waypost", "Volumes": {"/var/lib/waypost": {}},
            "Env": ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"], "StopSignal": "SIGTERM",
            "Entrypoint": ["/usr/bin/waypost"], "Cmd": ["run", "--config", "/etc/waypost/config.json"],
            # Docker's own; others ignore it.
            "Healthcheck": {"Test": ["CMD-SHELL", HEALTH], "Interval": 60 * 10**9, "Timeout": 10 * 10**9,
                            "StartPeriod": 30 * 10**9, "Retries": 3},
            "Labels": {"org.opencontainers.image.title": name, "org.opencontainers.image.version": version,
                       "org.opencontainers.image.licenses": "Apache-2.0"},
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
        "history": [{"created": created, "created_by": "scripts/image"}],
    }


def main() -> None:
    if len(sys.argv) != 6:
        sys.exit("usage: oci.py LAYOUT NAME VERSION ARCHITECTURE ROOT.tar")
    folder, name, version, architecture, root = Path(sys.argv[1]), *sys.argv[2:5], Path(sys.argv[5])
    # A tag has letters, digits, dots, hyphens and underscores.
    version = version.replace("~", "-").replace("+", "-")
    layout = Layout(folder)
    others = [image for image in layout.images(version) if image["platform"]["architecture"] != architecture]
    if not others:
        shutil.rmtree(folder)
        layout = Layout(folder)
    content = root.read_bytes()
    layer = layout.add(LAYER, gzip.compress(content, 9, mtime=0))
    config = layout.add_json(CONFIG, configuration(name, version, architecture, content))
    image = layout.add_json(
        MANIFEST, {"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": [layer]})
    image["platform"] = {"os": "linux", "architecture": architecture}
    layout.publish(version, sorted([*others, image], key=lambda one: str(one["platform"]["architecture"])))
    print(layer["size"])


if __name__ == "__main__":
    main()
