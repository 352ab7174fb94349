"""Speech to text and back, by any service with OpenAI's API: its own, Groq, speaches, whisper.cpp, vLLM.

Raw AAC, as Signal for Android records it, is wrapped into an M4A file, as services expect it; nothing is decoded:

    [header frame][header frame]...  -->  ftyp  moov(how to read it, where each frame is)  mdat(frame frame ...)

Source: OpenAI's API reference, `/audio/transcriptions` and `/audio/speech` (2026-08-21): at most 25 MB; containers are
known by content, and raw AAC is refused under any name. ISO/IEC 14496-3, 1.A.2 (ADTS); ISO/IEC 14496-12 (boxes) and -14
(`esds`); RFC 3533 and RFC 7845 (Ogg, Opus).
"""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from itertools import islice
from struct import pack

from pydantic import SecretStr

from bot.media.cell import FileRefused
from bot.settings.groups import AudioSettings
from bot.signal.json import as_object
from store import LedgerEntry
from tools import Http, TimedOut, ToolError, bearer

MAX_AUDIO_BYTES = 25_000_000
MAX_SPOKEN_CHARACTERS = 4096
_MAX_SPEECH_BYTES = 20_000_000
_SERVICE = "the audio service"
_TYPES = {"m4a": "audio/mp4", "mp3": "audio/mpeg"}  # the others have the name of their file extension
_MAX_BITS = 320_000
"""The most bits of a second of packed sound: a file that claims to be shorter is not believed."""
_MIN_BITS_BY_KIND = {"wav": 64_000, "flac": 64_000}
_MIN_PACKED_BITS = 16_000
"""The fewest bits of a second, by which recordings of unknown length are estimated."""
_RATES = (96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350)
_OPUS_RATE = 48_000
_SAMPLES_PER_FRAME = 1024
_HEADER_BYTES, _CHECKSUM_BYTES = 7, 2
_SYNC, _SYNC_MASK = 0xFFF0, 0xFFF6  # twelve ones, and a layer of zero
_IDENTITY = pack(">9i", 0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
_UNDETERMINED = 0x55C4  # "und", five bits a letter
_UNUSUAL = "it is a kind of AAC that is not read here"
_MAX_FRAMES = 500_000
"""Three hours of the usual kind; a crafted file can consist of millions of headers."""
_MIN_BITS = 500
"""The fewest bits that hold a second of sound: a file that claims more seconds than that allows is not believed."""


class Speech:
    """The service at the address of the settings, with this key, which is its own or OpenAI's."""

    def __init__(self, http: Http, audio: AudioSettings, *, api_key: SecretStr | None) -> None:
        self._http = http
        self._audio = audio
        self._headers = bearer(api_key)

    async def transcribe(self, sound: bytes, ending: str, fee: LedgerEntry) -> tuple[str | None, LedgerEntry]:
        """Returns what is said in a recording, None if that failed; and the expected `fee` as it became, with why."""
        try:
            sent = await self._http.post(
                f"{self._audio.base_url}/audio/transcriptions",
                service=_SERVICE,
                data={"model": fee.name, "response_format": "json"},
                files={"file": (f"recording.{ending}", sound, _TYPES.get(ending, f"audio/{ending}"))},
                timeout_seconds=60,
                headers=self._headers,
            )
            answer = sent.as_json(_SERVICE)
        except ToolError as error:
            return None, _unanswered(fee, error)
        body = as_object(answer.body)
        if not answer.ok or not isinstance(text := body.get("text"), str):
            # A refused request is not charged; one with an unreadable answer may have been.
            return None, replace(
                fee, outcome=f"status_{answer.status}", cost_usd=fee.cost_usd if answer.ok else Decimal(0)
            )
        # Whisper reports seconds, other models count tokens.
        billed = as_object(body.get("usage")).get("seconds")
        cost = self._minutes_cost(billed) if isinstance(billed, int | float) and billed > 0 else fee.cost_usd
        return text.strip(), replace(fee, outcome="ok", cost_usd=cost)

    def listening_fee(self, sound: bytes, ending: str, *, seconds: float | None) -> LedgerEntry:
        """Returns the expected fee of transcribing a recording, by what the file claims, or by its size."""
        bits = len(sound) * 8
        fewest = _MIN_BITS_BY_KIND.get(ending, _MIN_PACKED_BITS)
        presumed = bits / fewest if seconds is None else max(seconds, bits / _MAX_BITS)
        return _fee(self._audio.listening_model, self._minutes_cost(presumed))

    def speaking_fee(self, text: str) -> LedgerEntry:
        """Returns the expected fee of speaking a text."""
        price_usd = self._audio.speech_price
        cost = None if price_usd is None else round(price_usd * len(text) / 1_000_000, 9)
        return _fee(self._audio.speaking_model, cost)

    async def speak(self, text: str, fee: LedgerEntry, *, timeout_seconds: float) -> tuple[bytes | None, LedgerEntry]:
        """Returns the text, spoken in raw AAC, None if that failed or took longer; and the `fee` as by `transcribe`."""
        try:
            answer = await self._http.post(
                f"{self._audio.base_url}/audio/speech",
                service=_SERVICE,
                json={"model": fee.name, "input": text, "voice": self._audio.voice, "response_format": "aac"},
                timeout_seconds=min(timeout_seconds, 60),
                max_bytes=_MAX_SPEECH_BYTES,
                headers=self._headers,
            )
        except ToolError as error:
            return None, _unanswered(fee, error)
        if not answer.ok or not answer.body:
            return None, replace(fee, outcome=f"status_{answer.status}", cost_usd=Decimal(0))
        return answer.body, replace(fee, outcome="ok")

    def _minutes_cost(self, seconds: float) -> Decimal | None:
        price_usd = self._audio.price
        return None if price_usd is None else round(price_usd * Decimal(seconds) / 60, 9)


def _fee(model: str, cost_usd: Decimal | None) -> LedgerEntry:
    return LedgerEntry(name=model, outcome="asked", provider="audio", cost_usd=cost_usd)


def _unanswered(fee: LedgerEntry, error: ToolError) -> LedgerEntry:
    return replace(fee, outcome=error.code, cost_usd=fee.cost_usd if isinstance(error, TimedOut) else None)


def as_m4a(adts: bytes) -> tuple[bytes, float]:
    """Returns the same sound as an M4A file, and its seconds; raises `FileRefused` if it is no usual recording."""
    frames = list(islice(_frames(adts), _MAX_FRAMES + 1))
    if not frames:
        raise FileRefused("it is damaged")
    if len(frames) > _MAX_FRAMES:
        raise FileRefused("it is too long")
    profile, rate_index, channels = adts[2] >> 6, adts[2] >> 2 & 15, (adts[2] & 1) << 2 | adts[3] >> 6
    if rate_index >= len(_RATES) or not channels:
        raise FileRefused(_UNUSUAL)
    # AudioSpecificConfig: five bits for the kind of AAC, four for the rate, four for the channels. Around it: MPEG-4
    # audio (0x40), an audio stream (0x15), rates unknown.
    specific = _tagged(5, pack(">H", (profile + 1) << 11 | rate_index << 7 | channels << 3))
    decoder = _tagged(4, pack(">BB3xII", 0x40, 0x15, 0, 0) + specific)
    rate = _RATES[rate_index]
    entry = _box(
        b"mp4a",
        pack(">6xH8xHHIHxx", 1, channels, 16, 0, rate if rate < 1 << 16 else 0),
        _full(b"esds", _tagged(3, pack(">HB", 1, 0) + decoder + _tagged(6, b"\x02"))),
    )
    sizes = tuple(map(len, frames))
    head = _box(b"ftyp", b"M4A ", pack(">I", 0), b"M4A mp42isom")
    size = len(head) + len(_moov(rate, sizes, entry, 0))
    file = head + _moov(rate, sizes, entry, size + 8) + _box(b"mdat", *frames)
    return file, len(frames) * _SAMPLES_PER_FRAME / rate


def seconds_of(data: bytes) -> float | None:
    """Returns the length that an M4A or Opus file claims; None if it claims none, or more than its bytes can hold."""
    units, rate = 0, 0
    if data.startswith(b"OggS"):
        last = data.rfind(b"OggS")
        units, rate = int.from_bytes(data[last + 6 : last + 14], "little"), _OPUS_RATE * (b"OpusHead" in data[:200])
    elif (at := data.find(b"mvhd")) >= 0 and b"mvex" not in data:  # the length of one in fragments stands elsewhere
        clock, width = (at + 24, 8) if data[at + 4 : at + 5] == b"\x01" else (at + 16, 4)
        rate = int.from_bytes(data[clock : clock + 4], "big")
        units = int.from_bytes(data[clock + 4 : clock + 4 + width], "big")
    return units / rate if 0 < units * _MIN_BITS <= rate * len(data) * 8 else None


def _frames(data: bytes) -> Iterator[bytes]:
    """The frames without their headers, until the data ends or stops making sense."""
    at = 0
    while at + _HEADER_BYTES <= len(data):
        head = data[at : at + _HEADER_BYTES]
        length = (head[3] & 3) << 11 | head[4] << 3 | head[5] >> 5
        skipped = _HEADER_BYTES + (0 if head[1] & 1 else _CHECKSUM_BYTES)
        is_frame = int.from_bytes(head[:2], "big") & _SYNC_MASK == _SYNC and length > skipped
        if not is_frame or at + length > len(data):
            return
        if head[6] & 3:
            raise FileRefused(_UNUSUAL)
        yield data[at + skipped : at + length]
        at += length


def _moov(rate: int, sizes: tuple[int, ...], entry: bytes, offset: int) -> bytes:
    """The metadata: one chunk with all frames, which begins at `offset`; they have one duration and these sizes."""
    count, duration = len(sizes), len(sizes) * _SAMPLES_PER_FRAME
    times = pack(">IIII", 0, 0, rate, duration)
    table = _box(
        b"stbl",
        _full(b"stsd", pack(">I", 1), entry),
        _full(b"stts", pack(">III", 1, count, _SAMPLES_PER_FRAME)),
        _full(b"stsc", pack(">IIII", 1, 1, count, 1)),
        _full(b"stsz", pack(">II", 0, count), pack(f">{count}I", *sizes)),
        _full(b"stco", pack(">II", 1, offset)),
    )
    here = _box(b"dinf", _full(b"dref", pack(">I", 1), _full(b"url ", flags=1)))  # the sound is in this very file
    media = _box(
        b"mdia",
        _full(b"mdhd", times, pack(">HH", _UNDETERMINED, 0)),
        _full(b"hdlr", bytes(4), b"soun", bytes(12), b"\x00"),
        _box(b"minf", _full(b"smhd", bytes(4)), here, table),
    )
    track = pack(">IIIII8xHHHxx", 0, 0, 1, 0, duration, 0, 0, 0x100)
    return _box(
        b"moov",
        _full(b"mvhd", times, pack(">IHxx8x", 0x10000, 0x100), _IDENTITY, bytes(24), pack(">I", 2)),
        _box(b"trak", _full(b"tkhd", track, _IDENTITY, bytes(8), flags=7), media),
    )


def _tagged(tag: int, body: bytes) -> bytes:
    return bytes((tag, len(body))) + body


def _full(name: bytes, *parts: bytes, flags: int = 0) -> bytes:
    """A box with a version (0) and flags."""
    return _box(name, pack(">I", flags), *parts)


def _box(name: bytes, *parts: bytes) -> bytes:
    body = b"".join(parts)
    return pack(">I", 8 + len(body)) + name + body
