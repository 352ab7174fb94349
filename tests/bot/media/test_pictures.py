"""Pictures made fit: upright, small, and silent about where they were taken."""

import io

import pytest
from PIL import Image

from bot.media.cell import FileRefused
from bot.media.pictures import MAX_PIXELS, MAX_SIDE_PIXELS, fit_picture
from tests.bot.media.samples import noise, png_of_size, saved

ORIENTATION, MAKER, PLACE = 0x0112, 0x010F, 0x8825


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


def test_it_stands_upright_and_says_nothing_of_place_and_camera() -> None:
    """Phones write the picture as the sensor sees it, and how it was held beside it; and where."""
    image = Image.new("RGB", (200, 100), "blue")
    image.paste("red", (0, 0, 20, 100))  # the left edge, which is the top one when it is turned
    exif = Image.Exif()
    exif[ORIENTATION], exif[MAKER] = 6, "Camera of Anna"
    exif.get_ifd(PLACE)[1] = "N"
    facts, made = fit_picture(saved(image, "JPEG", exif=exif, comment=b"at home"))
    assert (facts["width"], facts["height"]) == opened(made).size == (100, 200)
    assert opened(made).convert("RGB").getpixel((50, 5))[0] > 200  # pyright: ignore[reportOptionalSubscript, reportIndexIssue]
    assert not opened(made).getexif()
    assert b"Anna" not in made
    assert b"at home" not in made


def test_a_large_one_is_scaled_to_the_longer_side() -> None:
    """In its proportions; vendors would do it anyway, and bill the bytes. A small one keeps its size."""
    for size in ((2000, 1500), (3000, 100), (1569, 900)):
        facts, made = fit_picture(noise(*size))
        width, height = opened(made).size
        assert (max(width, height), facts["width"]) == (MAX_SIDE_PIXELS, width)
        assert abs(width / height - size[0] / size[1]) < 0.3
    assert opened(fit_picture(noise(300, 200))[1]).size == (300, 200)
    assert len(fit_picture(noise(MAX_SIDE_PIXELS, MAX_SIDE_PIXELS, "PNG"))[1]) < 3_750_000  # as base64 five million


def test_every_format_becomes_one_that_models_take() -> None:
    """JPEG; a damaged one, cut off or rubbish behind a good beginning, is refused without another error."""
    for file_format in ("PNG", "GIF", "WEBP", "AVIF", "BMP", "TIFF", "JPEG"):
        whole = noise(100, 100, file_format)
        assert opened(fit_picture(whole)[1]).format == "JPEG"
        if file_format == "BMP":
            continue
        for broken in (whole[: len(whole) // 2], whole[:20] + b"\xaa" * 500, whole[:12]):
            with pytest.raises(FileRefused):
                fit_picture(broken)


def test_what_is_transparent_is_on_grey() -> None:
    """On which neither white letters nor black ones are lost."""
    for letters in (255, 0):
        drawn = Image.new("LA", (40, 40))
        drawn.paste((letters, 255), (8, 8, 24, 24))
        made = opened(fit_picture(saved(drawn, "PNG"))[1]).convert("L")
        shown = made.getpixel((15, 15)), made.getpixel((35, 35))
        assert shown == pytest.approx((letters, 128), abs=9)
    assert opened(fit_picture(saved(Image.new("LA", (9, 9)), "PNG"))[1]).size == (9, 9)


def test_of_several_pictures_there_is_the_first() -> None:
    """Of an animation it is said that it moves; a photo with a second picture for bright screens is none."""
    frames = [Image.new("RGB", (40, 40), colour) for colour in ("red", "blue", "green")]
    for file_format, is_animation in (("GIF", True), ("MPO", False)):
        data = saved(frames[0], file_format, save_all=True, append_images=frames[1:])
        facts, made = fit_picture(data)
        assert facts["is_animation"] is is_animation
        assert opened(made).getpixel((5, 5)) == (254, 0, 0)


def test_what_is_not_to_be_decoded_is_refused_before() -> None:
    """What would unfold to gigabytes, has too many greys, or is of another format."""
    for side in (5_001, 30_000, 2**31 - 1):
        assert side * side > MAX_PIXELS
        with pytest.raises(FileRefused, match="megapixels"):
            fit_picture(png_of_size(side, side))
    with pytest.raises(FileRefused):
        fit_picture(saved(Image.new("RGB", (9, 9)), "PPM"))
    with pytest.raises(FileRefused, match="greys"):
        fit_picture(saved(Image.new("I;16", (9, 9)), "PNG"))
