"""Bounds and conditions of the theory, computed; built on the numerics only."""
