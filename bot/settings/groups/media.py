"""The settings `MEDIA__...`."""

from pydantic import Field

from bot.settings.groups.base import SettingsGroup


class MediaSettings(SettingsGroup):
    """Pictures, PDFs, texts and recordings that come with messages."""

    max_files: int = Field(default=8, ge=0, le=50)
    """How many files are opened with one question; 0 means none."""
    max_bytes: int = Field(default=20_000_000, ge=1000, le=100_000_000)
    """The largest file that is downloaded, in bytes."""
    max_pages: int = Field(default=50, ge=1, le=1000)
    """How many pages of a PDF are read."""
    max_text_chars: int = Field(default=30_000, ge=1000, le=1_000_000)
    """How many characters of one file the model reads."""
