"""Loads what opens files, as it is imported: by the server that cells are forked from, and by nothing else."""

import sys

from bot.media import cell

try:
    from bot.media import feed_parser, pages, pdf, pictures
except ImportError as error:  # the server goes on without this module
    sys.stderr.write(f"aldis: no file or page can be opened: {error}; install Aldis's packages again\n")
    raise

cell.prepare((pages, pdf, pictures, feed_parser))
