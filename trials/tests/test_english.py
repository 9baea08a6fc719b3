"""Sentences that `scripts/english` must find, and sentences that it must ignore."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import unittest

from trials.waypost import ROOT

_loader = importlib.machinery.SourceFileLoader("english", str(ROOT / "scripts/english"))
_specification = importlib.util.spec_from_loader("english", _loader)
assert _specification is not None
english = importlib.util.module_from_spec(_specification)
_loader.exec_module(english)


class Rules(unittest.TestCase):
    """The lines in which the rules find a construction."""

    def found(self, text: str, name: str = "a.swift") -> list[int]:
        return [line for line, _, _ in english.hits(name, text)]

    def test_finds_comments_strings_and_lines_of_pages(self) -> None:
        self.assertEqual(self.found("/// What waits in the outbox.\nlet a = 1"), [1])
        self.assertEqual(self.found("let a = 1\n// Whoever calls this\n// waits."), [2])
        self.assertEqual(self.found('let a = "the vehicle is told of it"'), [1])
        self.assertEqual(self.found("A line.\n\nThe one before is old.", "a.md"), [3])

    def test_leaves_plain_sentences_and_code_alone(self) -> None:
        for text in ("/// The number of updates.\n///\n/// It includes shape points.", "let whoever = 1", 'f("nobody")',
                     "/// Returns `nil` if there is no token.", "// The line is no longer open."):
            self.assertEqual(self.found(text), [], text)
        self.assertEqual(self.found("```\nnobody knows\n```", "a.md"), [])
