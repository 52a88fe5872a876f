"""A matplotlib figure that shows itself in a notebook, whether or not pyplot was ever imported there."""

import io
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

_DPI = 110


class Picture(Figure):
    """A figure without pyplot, so it is freed as soon as it is no longer used."""

    def __init__(self, **options: Any) -> None:
        super().__init__(layout="constrained", **options)

    def savefig(self, fname: Any, **options: Any) -> None:
        """Write the figure; PDF and PostScript files embed TrueType fonts, which publishers accept."""
        with rc_context({"pdf.fonttype": 42, "ps.fonttype": 42}):
            super().savefig(fname, **options)

    def png(self, dpi: float = _DPI) -> bytes:
        """Return the figure as the bytes of a PNG file."""
        file = io.BytesIO()
        self.savefig(file, format="png", dpi=dpi)
        return file.getvalue()

    def _repr_png_(self) -> bytes:
        return self.png()
