"""Waits with an end: a test that waits in vain fails and says so, instead of holding up all others."""

import os
import signal
import time

SECONDS = 120


def until(condition, step=0.01, workers=(), seconds=SECONDS):
    """Wait until a condition holds, while these processes are at work."""
    end = time.monotonic() + seconds
    while not condition():
        assert all(worker.is_alive() for worker in workers), workers
        assert time.monotonic() < end, f"it did not happen within {seconds} seconds"
        time.sleep(step)


def join(*workers, seconds=SECONDS):
    """Wait for threads or processes; a process that does not end is killed."""
    end = time.monotonic() + seconds
    for worker in workers:
        worker.join(max(0.0, end - time.monotonic()))
    hanging = [worker for worker in workers if worker.is_alive()]
    for worker in hanging:
        if hasattr(worker, "kill"):
            worker.kill()
            worker.join()
    assert not hanging, f"still at work after {seconds} seconds: {hanging}"


def exit_code(child, seconds=SECONDS):
    """Wait for a forked child and return its exit code; a child that does not end is killed."""
    found = []

    def ended():
        found[:] = os.waitpid(child, os.WNOHANG)
        return found[0] != 0

    try:
        until(ended, seconds=seconds)
    except AssertionError:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise
    return os.waitstatus_to_exitcode(found[1])
