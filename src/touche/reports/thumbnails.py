"""Thumbnails of untrusted pictures, which a page embeds."""

import io
import warnings
from base64 import b64encode

_LARGEST_SIDE = 160  # pixels of a thumbnail
_MOST_PIXELS = 40_000_000  # of a picture; larger ones are not decoded
_MOST_CHARACTERS = 30_000  # of a thumbnail in base64


def thumbnail(picture: bytes) -> str:
    """Returns a picture as a small WebP in a data URI; empty if it cannot be decoded, or is too large.

    Args:
        picture: the content of a WebP, PNG or JPEG; other formats are not decoded.
    """
    try:
        from PIL import Image  # an optional package, which container images lack
    except ImportError:
        return ""
    small = io.BytesIO()
    try:
        with (
            warnings.catch_warnings(action="ignore"),  # of large pictures, which are not decoded
            Image.open(io.BytesIO(picture), formats=["WEBP", "PNG", "JPEG"]) as image,
        ):
            if image.width * image.height > _MOST_PIXELS:
                return ""
            image.thumbnail((_LARGEST_SIDE, _LARGEST_SIDE))
            image.convert("RGB").save(small, "WEBP", quality=60)
    # Pillow raises any of these for a damaged or much too large picture.
    except (OSError, ValueError, SyntaxError, MemoryError, Image.DecompressionBombError):
        return ""
    encoded = b64encode(small.getvalue()).decode("ascii")
    return f"data:image/webp;base64,{encoded}" if len(encoded) <= _MOST_CHARACTERS else ""
