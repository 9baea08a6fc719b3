"""Broken links and unreachable pages that `scripts/check-links` finds, and links that it accepts."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import tempfile
import unittest
from pathlib import Path

from trials.waypost import ROOT

_loader = importlib.machinery.SourceFileLoader("check_links", str(ROOT / "scripts/check-links"))
_specification = importlib.util.spec_from_loader("check_links", _loader)
assert _specification is not None
check_links = importlib.util.module_from_spec(_specification)
_loader.exec_module(check_links)


class Links(unittest.TestCase):
    """The problems of a small checkout."""

    def problems(self, **files: str) -> list[str]:
        """Writes the pages, such as `docs_a` to docs/a.md, and checks them."""
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            for name, text in {"README": "", "CHANGELOG": "", **files}.items():
                page = root / f"{name.replace('_', '/')}.md"
                page.parent.mkdir(exist_ok=True)
                page.write_text(text)
            found: list[str] = check_links.problems(root)
            return found

    def test_finds_missing_files_and_headings_by_line(self) -> None:
        self.assertEqual(self.problems(README="# One\n\n[b](docs/b.md) ![c](c.png)\n[two](#two)"), [
            "README.md:3: docs/b.md: no such file", "README.md:3: c.png: no such file", "README.md:4: #two: no such heading"])
        self.assertEqual(self.problems(README="[a](docs/a.md#b)", docs_a="# A"), ["README.md:1: docs/a.md#b: no such heading"])

    def test_finds_missing_pictures_of_a_theme(self) -> None:
        picture = '<picture><source srcset="dark.png"><img src="light.png"></picture>'
        self.assertEqual(self.problems(README=picture), [
            "README.md:1: dark.png: no such file", "README.md:1: light.png: no such file"])

    def test_finds_pages_without_a_link_from_the_readme(self) -> None:
        found = self.problems(README="[a](docs/a.md)", docs_a="[b](b.md)", docs_b="", docs_c="[a](a.md)")
        self.assertEqual(found, ["docs/c.md: no link from README leads here"])

    def test_accepts_headings_as_they_are_linked_and_no_links_in_code(self) -> None:
        text = "## `run`, and why\n## A [b](#x)\n## X\n## X\n[1](#run-and-why) [2](#a-b) [3](#x-1) [4](https://a.example/b)\n"
        self.assertEqual(self.problems(README=text + "```\n# no heading\n[5](none.md)\n```\n"), [])
