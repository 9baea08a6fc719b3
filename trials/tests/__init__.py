"""Tests of the trials' common parts, which need no build and take a few seconds."""
