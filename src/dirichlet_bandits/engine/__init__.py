"""What a compiled run is made of: verbs, states, pulling and recording, the plain loop, rare events waited for."""
