"""Other libraries beside ours: same problem, same policy, in one run (``python -m benchmarks.peers``)."""
