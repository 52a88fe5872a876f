"""Pure compiled mathematics on floats and arrays; independent of arms and policies."""
