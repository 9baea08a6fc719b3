"""Adds an image to an OCI layout (LAYOUT CONFIG.json TAG ARCHITECTURE ROOT.tar). It has one layer; CONFIG names its
entry point. Images with the same tag for other architectures are kept. Prints the compressed size."""

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


class Layout:
    """An OCI layout: blobs named by their digests, and an index of the images."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.blobs = directory, directory / "blobs/sha256"
        self.blobs.mkdir(parents=True, exist_ok=True)
        (directory / "oci-layout").write_text(json.dumps({"imageLayoutVersion": "1.0.0"}))

    def add(self, media: str, content: bytes) -> dict[str, Any]:
        digest = hashlib.sha256(content).hexdigest()
        (self.blobs / digest).write_bytes(content)
        return {"mediaType": media, "digest": f"sha256:{digest}", "size": len(content)}

    def add_json(self, media: str, document: object) -> dict[str, Any]:
        return self.add(media, json.dumps(document, sort_keys=True).encode())

    def read(self, descriptor: dict[str, Any]) -> Any:
        return json.loads((self.blobs / descriptor["digest"].partition(":")[2]).read_bytes())

    def images(self, version: str) -> list[dict[str, Any]]:
        """The images of a version, one per architecture."""
        index = self.directory / "index.json"
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
        (self.directory / "index.json").write_text(json.dumps(
            {"schemaVersion": 2, "mediaType": INDEX, "manifests": [entry]}, indent=2))
        used = {entry["digest"]}
        for image in images:
            manifest = self.read(image)
            used |= {image["digest"], manifest["config"]["digest"], *(layer["digest"] for layer in manifest["layers"])}
        for blob in self.blobs.iterdir():
            if f"sha256:{blob.name}" not in used:
                blob.unlink()


def configuration(config: dict[str, Any], tag: str, architecture: str, layer: bytes) -> dict[str, Any]:
    created = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    labels = {"org.opencontainers.image.version": tag, "org.opencontainers.image.licenses": "Apache-2.0"}
    return {
        "created": created, "architecture": architecture, "os": "linux", "config": config | {"Labels": labels},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
        "history": [{"created": created, "created_by": "scripts/image"}],
    }


def main() -> None:
    if len(sys.argv) != 6:
        sys.exit("usage: oci.py LAYOUT CONFIG.json TAG ARCHITECTURE ROOT.tar")
    directory, tag, architecture = Path(sys.argv[1]), sys.argv[3], sys.argv[4]
    config = json.loads(Path(sys.argv[2]).read_text())
    layout = Layout(directory)
    others = [image for image in layout.images(tag) if image["platform"]["architecture"] != architecture]
    if not others:
        shutil.rmtree(directory)
        layout = Layout(directory)
    content = Path(sys.argv[5]).read_bytes()
    layer = layout.add(LAYER, gzip.compress(content, 9, mtime=0))
    described = layout.add_json(CONFIG, configuration(config, tag, architecture, content))
    image = layout.add_json(
        MANIFEST, {"schemaVersion": 2, "mediaType": MANIFEST, "config": described, "layers": [layer]})
    image["platform"] = {"os": "linux", "architecture": architecture}
    layout.publish(tag, sorted([*others, image], key=lambda one: str(one["platform"]["architecture"])))
    print(layer["size"])


if __name__ == "__main__":
    main()
