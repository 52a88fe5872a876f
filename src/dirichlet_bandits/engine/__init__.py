"""The parts of a compiled run: verbs, states, pulls and records, the plain loop, and clocks for rare events."""
