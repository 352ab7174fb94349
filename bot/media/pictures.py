"""Pictures prepared for models: upright, small enough, without the camera's notes about place and person.

Runs in a cell (`bot.media.cell`); the home of Pillow. Vendors scale down what has more than 1,568 pixels anyway.

Source: Pillow 13.0.0; Anthropic's guide to vision (2026-11-21).
"""

import io
import warnings
from collections.abc import Sequence

from PIL import AvifImagePlugin, Image, ImageOps

from bot.media.cell import Facts, FileRefused

MAX_SIDE_PIXELS = 1568
MAX_PIXELS = 25_000_000
"""Checked before decoding: a file of kilobytes can unfold to gigabytes. A WebP takes 17 bytes a pixel at its peak."""
MAX_JPEG_PIXELS = 50_000_000
"""Phones take up to 50 megapixels; a JPEG is scaled down while it is decoded."""
_JPEGS = frozenset({"JPEG", "MPO"})
"""MPO: a JPEG followed by further pictures, which phones use for brightness; not an animation."""
_QUALITY = 80
"""With colours as sharp as brightness, for the letters of a screenshot."""
_GROUND = (128, 128, 128, 255)
"""What is put behind a transparent picture: on a middle grey neither black nor white letters are lost."""
_FORMATS = ("AVIF", "BMP", "GIF", "JPEG", "PNG", "TIFF", "WEBP")

AvifImagePlugin.DEFAULT_MAX_THREADS = 1  # a cell cannot start threads


def preload() -> None:
    """See `bot.media.cell`: writes and reads each format once."""
    picture, buffer = Image.new("RGB", (16, 16), "white"), io.BytesIO()
    picture.save(buffer, "MPO", save_all=True, append_images=[picture])
    fit_picture(buffer.getvalue())
    for name in _FORMATS:
        fit_picture(_written(picture, name))


def serve(data: bytes, _: Sequence[str]) -> tuple[Facts, bytes]:
    """See `bot.media.cell`; there are no arguments."""
    return fit_picture(data)


def fit_picture(data: bytes) -> tuple[Facts, bytes]:
    """Returns the picture (of an animation the first) as a JPEG; the facts are `width`, `height`, `is_animation`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about oddities of the file that do not prevent reading it
        try:
            with Image.open(io.BytesIO(data), formats=_FORMATS) as opened:
                most = MAX_JPEG_PIXELS if opened.format in _JPEGS else MAX_PIXELS
                if opened.width * opened.height > most:
                    raise FileRefused(f"it has more than {most // 1_000_000} megapixels")
                is_animation = opened.format not in _JPEGS and bool(getattr(opened, "is_animated", False))
                picture = _made(opened)
                made = _written(picture, "JPEG", quality=_QUALITY, subsampling=0)
        except Image.DecompressionBombError as error:
            raise FileRefused(f"it has more than {MAX_JPEG_PIXELS // 1_000_000} megapixels") from error
        # Pillow's readers let through whatever exception their parsing of a damaged file runs into.
        except (OSError, ValueError, SyntaxError, TypeError, LookupError, ArithmeticError, EOFError) as error:
            raise FileRefused("it is damaged") from error
    return {"width": picture.width, "height": picture.height, "is_animation": is_animation}, made


def _made(opened: Image.Image) -> Image.Image:
    if opened.mode.startswith("I"):  # of 65,536 greys Pillow makes black and white
        raise FileRefused("it has more greys than are read here; a screenshot of it can be sent")
    opened.draft("RGB", (MAX_SIDE_PIXELS, MAX_SIDE_PIXELS))  # decodes a large JPEG at half or quarter size
    ImageOps.exif_transpose(opened, in_place=True)  # avoids a copy of what can take 200 MB
    mode = "RGBA" if opened.has_transparency_data else "RGB"
    picture = opened if opened.mode == mode else opened.convert(mode)
    picture.thumbnail((MAX_SIDE_PIXELS, MAX_SIDE_PIXELS), Image.Resampling.LANCZOS)
    picture.info.clear()  # what is written from here on holds nothing from the camera
    if mode == "RGBA":
        picture = Image.alpha_composite(Image.new("RGBA", picture.size, _GROUND), picture).convert("RGB")
    return picture


def _written(picture: Image.Image, file_format: str, **options: int) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, file_format, **options)
    return buffer.getvalue()
