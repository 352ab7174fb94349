"""Loads what the product does, and the modules of tests that do what none of these does; see `bot.media.preloaded`."""

import bot.media.preloaded
from bot.media import cell
from tests.bot.media import escapes, hostile

cell.prepare((escapes, hostile))
_ = bot.media.preloaded
