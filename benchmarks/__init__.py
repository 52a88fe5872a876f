"""Ratios measured in one run; never imported by tests."""
