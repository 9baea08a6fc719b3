"""Tests of the trials' common parts: no build, some seconds."""
