"""Pure compiled mathematics on floats and arrays; imports nothing of ours but the exceptions."""
