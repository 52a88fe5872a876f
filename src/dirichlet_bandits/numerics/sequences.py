"""Sequences of numbers that fill an interval evenly."""

from dirichlet_bandits.compiler import jit


@jit
def van_der_corput(r: int) -> float:
    """Return the r-th number of van der Corput's sequence: the binary digits of r, mirrored at the point.

    >>> van_der_corput(1), van_der_corput(2), van_der_corput(3), van_der_corput(6)
    (0.5, 0.25, 0.75, 0.375)

    Reference: van der Corput (1935), Verteilungsfunktionen.
    """
    value, digit = 0.0, 0.5
    while r > 0:
        if r % 2 == 1:
            value += digit
        digit *= 0.5
        r //= 2
    return value
