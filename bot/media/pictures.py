"""Pictures prepared for models: upright, small enough, without the camera's notes about place and person.

Runs in a cell (`bot.media.cell`); the home of Pillow.

Source: Pillow 13.0.0; pictures of more than 1,568 pixels are scaled down by the vendors anyway (Anthropic's guide to
vision, 2026-11-21).
"""

import io
import warnings
from collections.abc import Sequence

from PIL import AvifImagePlugin, Image, ImageOps, ImageStat

from bot.media.cell import Facts, FileRefused

MAX_SIDE_PIXELS = 1568
MAX_PIXELS = 25_000_000
"""Checked before decoding: a file of kilobytes can unfold to gigabytes. A WebP takes 17 bytes a pixel at its peak."""
MAX_JPEG_PIXELS = 50_000_000
"""Phones take up to 50 megapixels; a JPEG is scaled down while it is decoded and takes a tenth of the others."""
_JPEGS = frozenset({"JPEG", "MPO"})
"""MPO: a JPEG followed by further pictures, which phones use for brightness; not an animation."""
MAX_SHARP_BYTES = 1_000_000
"""Up to so many bytes colours are as sharp as brightness, for the letters of a screenshot; a photo is larger then."""
_QUALITY = 85
_MIN_LIGHT_GREY = 200
"""What is lighter than this on the average, such as white letters, would be lost on white."""
_FORMATS = ("AVIF", "BMP", "GIF", "JPEG", "PNG", "TIFF", "WEBP")

AvifImagePlugin.DEFAULT_MAX_THREADS = 1  # a cell cannot start threads


def preload() -> None:
    """See `bot.media.cell`: writes and reads each format once."""
    picture, buffer = Image.new("RGB", (16, 16), "white"), io.BytesIO()
    picture.save(buffer, "MPO", save_all=True, append_images=[picture])
    fit_picture(buffer.getvalue(), "JPEG")
    for name in _FORMATS:
        fit_picture(_written(picture, name), name)


def serve(data: bytes, arguments: Sequence[str]) -> tuple[Facts, bytes]:
    """See `bot.media.cell`; the argument is Pillow's name of the format."""
    [file_format] = arguments
    return fit_picture(data, file_format)


def fit_picture(data: bytes, file_format: str) -> tuple[Facts, bytes]:
    """Returns the picture as a JPEG, a transparent one on white, or on black if light; of an animation the first frame.

    The facts are `width`, `height` (in pixels) and `is_animation`. `file_format` is Pillow's name of the only format
    that is tried.

    Raises:
        FileRefused: it is damaged, or too large.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about oddities of the file that do not prevent reading it
        try:
            with Image.open(io.BytesIO(data), formats=[file_format]) as opened:
                _check_size(opened)
                is_animation = opened.format not in _JPEGS and bool(getattr(opened, "is_animated", False))
                picture = _made(opened)
                made = _written(picture, "JPEG", quality=_QUALITY, subsampling=0)
                made = made if len(made) <= MAX_SHARP_BYTES else _written(picture, "JPEG", quality=_QUALITY)
        except Image.DecompressionBombError as error:
            raise FileRefused(f"it has more than {MAX_JPEG_PIXELS // 1_000_000} megapixels") from error
        # Pillow's readers let through whatever exception their parsing of a damaged file runs into.
        except (OSError, ValueError, SyntaxError, TypeError, LookupError, ArithmeticError, EOFError) as error:
            raise FileRefused("it is damaged") from error
    return {"width": picture.width, "height": picture.height, "is_animation": is_animation}, made


def _check_size(opened: Image.Image) -> None:
    most = MAX_JPEG_PIXELS if opened.format in _JPEGS else MAX_PIXELS
    if opened.width * opened.height > most:
        raise FileRefused(f"it has more than {most // 1_000_000} megapixels")


def _made(opened: Image.Image) -> Image.Image:
    opened.draft("RGB", (MAX_SIDE_PIXELS, MAX_SIDE_PIXELS))  # decodes a large JPEG at half or quarter size
    ImageOps.exif_transpose(opened, in_place=True)  # avoids a copy of what can take 200 MB
    upright = _shallow(opened)
    mode = "RGBA" if upright.has_transparency_data else "RGB"
    picture = upright if upright.mode == mode else upright.convert(mode)
    picture.thumbnail((MAX_SIDE_PIXELS, MAX_SIDE_PIXELS), Image.Resampling.LANCZOS)
    picture.info.clear()  # what is written from here on holds nothing from the camera
    if mode == "RGBA":
        visible = picture.getchannel("A")
        is_light = bool(visible.getbbox()) and ImageStat.Stat(picture.convert("L"), visible).mean[0] > _MIN_LIGHT_GREY
        ground = Image.new("RGBA", picture.size, "black" if is_light else "white")
        picture = Image.alpha_composite(ground, picture).convert("RGB")
    return picture


def _shallow(picture: Image.Image) -> Image.Image:
    """Converts 65,536 greys to 256, which Pillow does not scale by itself."""
    if not picture.mode.startswith("I"):
        return picture
    wide = picture.convert("I")
    # Pillow's annotations leave part of the type of `point` open.
    return wide.point(lambda grey: grey * (1 / 256)).convert("L")  # pyright: ignore[reportUnknownMemberType]


def _written(picture: Image.Image, file_format: str, **options: int) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, file_format, **options)
    return buffer.getvalue()
