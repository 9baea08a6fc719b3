"""Tests of what the trials share: no build, some seconds."""
