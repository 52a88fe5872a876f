"""Servers that tests write themselves."""


def accepted(door):
    """Yield the connections that come to a listening socket, until it is closed."""
    while True:
        try:
            line, _ = door.accept()
        except OSError:
            return
        yield line
