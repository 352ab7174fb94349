"""What sites say to programs, and that it is asked for once and obeyed, behind redirects too."""

import time
from itertools import product

from tools.web.tool import allows

ROWS = [
    ("", "/anything", True),
    ("\ufeffUser-agent: *\nDisallow: /\nAllow: /$", "/", True),
    ("user-AGENT : *\n disallow:/x", "/x/y", False),
    ("User-agent: other\nDisallow: /", "/", True),
    ("User-agent: *\nDisallow: /\n\nUser-agent: Other\nUser-agent: ALDIS\nDisallow: /lamps # not", "/private", True),
    ("User-agent: Aldis/2.0 (a lamp)\nDisallow: /", "/", False),
    ("User-agent: aldis-news\nDisallow: /", "/", True),
    ("User Agent: *\nDisallow: /", "/", False),
    ("useragent: *\nDissallow: /", "/", False),
    ("User-agent: *\rDisallow: /a\r\rDisallow: /b*.zip$ # not this", "/b/a.zip", False),
    ("User-agent: *\nDisallow: /x?", "/x?q=1", False),
    ("User-agent: *\nDisallow: /ü", "/%C3%BC", False),
]


def test_the_longest_rule_of_the_own_group_counts() -> None:
    """As RFC 9309 has it; what cannot be understood forbids nothing."""
    for text, path, is_allowed in ROWS:
        assert allows(text, path) is is_allowed, (text, path)


def test_no_file_takes_long() -> None:
    """Agents times rules, rules without end, stars that may each look at the whole path again."""
    agents = "".join(f"User-agent: {''.join(name)}\n" for name in product("bcdefghijklmnopqrstuvwxyz", repeat=3))
    for file in (
        agents + "User-agent: aldis\n" + "Disallow: /a\n" * 30_000,
        "User-agent: *\n" + "".join(f"Disallow: /x{number}\n" for number in range(50_000)) + "Disallow: /a\n",
        "User-agent: *\n" + f"Disallow: /{'*a' * 20}b\n" * 20_000 + "Disallow: /a\n",
    ):
        began = time.process_time()
        assert not allows(file, "/" + "a" * 4_000)
        assert time.process_time() - began < 20
