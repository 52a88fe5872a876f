"""Conformance checks that users can run on their own policy."""
