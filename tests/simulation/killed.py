"""A simulation with a store that kills itself: so many seconds after so many chunks of its own.

By itself, because whoever watched it from outside might be slow, and find it finished.
"""

import os
import signal
import sys
import threading

import xarray  # noqa: F401 - loaded before the clock starts
import zarr  # noqa: F401

from dirichlet_bandits.results.store import Store
from tests.simulation.games import run

LEAD = 6  # chunks that it may write after the clock has started


def main(store, chunks=None, seconds=None):
    doom = threading.Timer(float(seconds or 0), os.kill, (os.getpid(), signal.SIGKILL))
    written, write = [], Store.write

    def write_and_count(*words, **more):
        write(*words, **more)
        written.append(words)
        if len(written) == chunks:
            doom.start()
        if chunks is not None and len(written) >= chunks + LEAD:
            doom.join()  # the clock is late: wait, or it would find everything finished

    Store.write = write_and_count
    if chunks == 0:
        doom.start()
    run(store)
    if chunks is not None:
        doom.join()  # it was quick: killed all the same


if __name__ == "__main__":
    path, *words = sys.argv[1:]
    main(path, *(kind(word) for kind, word in zip((int, float), words, strict=False)))
