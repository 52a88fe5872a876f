"""Bounds and conditions from the theory, computed; built on the numerics only."""
