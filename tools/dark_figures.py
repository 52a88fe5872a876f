"""Make the dark variant of a figure: white becomes the background of dark pages, black their ink, and hues stay.

The site shows it to readers of dark pages (tools/site_pages.py makes it while the site is built).
"""

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Colors = NDArray[np.float64]

BACKGROUND, INK = (30, 33, 41), (226, 228, 233)  # of the dark pages of the theme, in sRGB
LIFT = 0.62  # below 1: light colors, such as bands and yellow, keep their distance from the background
TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def dark(png: bytes) -> bytes:
    """Return a picture with its lightness turned over, as a PNG file with at most 256 colors."""
    image = Image.open(io.BytesIO(png)).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    palette = np.array(image.getpalette(), dtype=float).reshape(-1, 3)
    image.putpalette(turned(palette).astype(np.uint8).tobytes())
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True)
    return file.getvalue()


def turned(colors: Colors) -> Colors:
    """Return colors for dark pages, all from 0 to 255.

    >>> turned(np.array([[255.0, 255.0, 255.0], [0.0, 0.0, 0.0]])).tolist()
    [[30.0, 33.0, 41.0], [226.0, 228.0, 233.0]]
    """
    lab, (background, ink) = oklab(colors), oklab(np.array([BACKGROUND, INK], dtype=float))
    share = np.clip(1.0 - lab[:, :1], 0.0, 1.0) ** LIFT
    hue = np.hstack([np.zeros_like(share), lab[:, 1:]])
    return srgb(background + (ink - background) * share + hue)


def oklab(colors: Colors) -> Colors:
    """Return lightness and the two axes of hue (Ottosson, 2020), in which a change of lightness keeps the hue."""
    scaled = colors / 255.0
    linear = np.where(scaled <= 0.04045, scaled / 12.92, ((scaled + 0.055) / 1.055) ** 2.4)
    return np.asarray(np.cbrt(linear @ TO_CONES.T) @ TO_LAB.T)


def srgb(lab: Colors) -> Colors:
    """Return the nearest colors that a screen has."""
    linear = np.clip((lab @ np.linalg.inv(TO_LAB).T) ** 3 @ np.linalg.inv(TO_CONES).T, 0.0, 1.0)
    return np.rint(255.0 * np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055))
