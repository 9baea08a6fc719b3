"""The commands that `scripts/docs-test` finds in a page."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import unittest

from trials.waypost import ROOT

_loader = importlib.machinery.SourceFileLoader("docs_test", str(ROOT / "scripts/docs-test"))
_specification = importlib.util.spec_from_loader("docs_test", _loader)
assert _specification is not None
docs_test = importlib.util.module_from_spec(_specification)
_loader.exec_module(docs_test)


class Commands(unittest.TestCase):
    """The commands of a page, with their lines."""

    def commands(self, text: str) -> list[tuple[int, str]]:
        return [command for block in docs_test.blocks(text) for command in block.commands()]

    def test_finds_commands_of_every_block_for_a_shell(self) -> None:
        text = "```sh\none\n# no command\n\ntwo # why\n```\n\n1. List:\n\n   ```sh gateway\n   three \\\n     four\n   five\n   ```\n"
        self.assertEqual(self.commands(text), [(2, "one"), (5, "two # why"), (11, "three \\\n  four"), (13, "five")])

    def test_leaves_other_blocks_alone_and_knows_their_files(self) -> None:
        text = "<!-- file: a.json -->\n```json\n{}\n```\n```\nsudo output\n```\n"
        self.assertEqual(self.commands(text), [])
        self.assertEqual([(block.comment, block.text) for block in docs_test.blocks(text)],
                         [("file: a.json", "{}\n"), ("", "sudo output\n")])
