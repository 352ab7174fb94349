"""The pages as HTML: templates and the files that go with them.

Everything is escaped except what the templates themselves contain.
"""

import hashlib
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import segno
from aiohttp import web
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from bot.i18n.locale import day, dollars, moment, short_day
from bot.invocation import command_line
from bot.web.admin.guard import LIVE, SESSION
from bot.web.admin.sessions import Remark

_CENT = Decimal("0.01")
_FOLDER = Path(__file__).parent
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


class PageTemplates:
    """The templates and static files."""

    def __init__(self, *, timezone: str = "UTC") -> None:
        self._zone = ZoneInfo(timezone)
        self._static = {path.name: path.read_bytes() for path in sorted((_FOLDER / "static").iterdir())}
        self._digests = {name: hashlib.sha256(data).hexdigest()[:12] for name, data in self._static.items()}
        self._jinja = Environment(
            loader=FileSystemLoader(_FOLDER / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        names = {"static": self._static_path, "command": command_line, "qr": qr_svg}
        self._jinja.globals.update(names)  # pyright: ignore[reportUnknownMemberType]
        filters = {
            "time": self._time,
            "day": _day,
            "short_day": _short_day,
            "usd": _usd,
            "count": _count,
            "span": _span,
        }
        self._jinja.filters.update(filters)  # pyright: ignore[reportUnknownMemberType]

    def html(self, template: str, **values: object) -> str:
        """Returns a template, filled in."""
        return self._jinja.get_template(f"{template}.html").render(**values)

    def response(self, request: web.Request, template: str, *, status: int = 200, **values: object) -> web.Response:
        """Returns a whole page as the answer to a request; shows the remarks of its session once."""
        session = request.get(SESSION)
        remarks: list[Remark] = []
        if session and LIVE not in request.headers:
            remarks, session.remarks = session.remarks, []
        text = self.html(template, session=session, remarks=remarks, path=request.path, **values)
        return web.Response(text=text, content_type="text/html", status=status)

    async def static(self, request: web.Request) -> web.Response:
        """Answers with a file that pages refer to, under the digest of its content."""
        name = request.match_info["name"]
        if self._digests.get(name) != request.match_info["digest"]:
            raise web.HTTPNotFound(text="There is no such file.\n")
        lasting = {"Cache-Control": "public, max-age=31536000, immutable"}
        kind = _TYPES[Path(name).suffix]
        return web.Response(body=self._static[name], content_type=kind, charset="utf-8", headers=lasting)

    def _static_path(self, name: str) -> str:
        return f"/static/{self._digests[name]}/{name}"

    def _time(self, at: datetime) -> str:
        return moment((at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(self._zone))


def qr_svg(text: str) -> str:
    """Returns a QR code as a picture, dark on light with its margin, whatever the theme of the page."""
    return segno.make(text).svg_inline(border=4, light="#fff", dark="#000", omitsize=True)


def _usd(amount: Decimal | None) -> str:
    if amount is None:
        return "?"
    places = Decimal("0.0001") if 0 < abs(amount) < _CENT else _CENT
    return dollars(amount.quantize(places))


def _day(iso: str) -> str:
    return day(date.fromisoformat(iso))


def _short_day(iso: str) -> str:
    return short_day(date.fromisoformat(iso))


def _count(value: int) -> str:
    """A number in groups of three digits, separated so that no language takes it for a decimal point."""
    return f"{value:,}".replace(",", "\u202f")


def _span(took: timedelta) -> str:
    """A time in its largest two units: `3 d 4 h`."""
    minutes = int(took.total_seconds()) // 60
    if minutes < 60:  # noqa: PLR2004
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 24 else f"{hours // 24} d {hours % 24} h"  # noqa: PLR2004
