"""The cells in which files and pages of strangers are opened: what holds them on this machine."""

from bot.doctor.findings import Finding, ok, problem, warning
from bot.media.cell import FileRefused
from bot.media.confinement import Level
from bot.media.sandbox import Sandbox

_WHERE = "cells: files and pages of strangers are opened in processes that"


async def check_cells(sandbox: Sandbox) -> Finding:
    """Whether there can be any, and how well they hold."""
    try:
        return check_cell_level(await sandbox.level())
    except FileRefused:
        what = "cells: the process that opens files and pages of strangers does not start"
        return problem(what, "what it said stands above; is there memory left, and room for processes?")


def check_cell_level(level: Level) -> Finding:
    """How well cells hold on a machine that can do so much."""
    if level.holds:
        return ok(f"{_WHERE} can open, reach and start nothing ({level.words})")
    if level.landlock:
        what = f"{_WHERE} can open no file, but make sockets and processes ({level.words})"
        return warning(what, "use a 64-bit system on x86-64 or aarch64; in a container see what its runtime allows")
    what = f"{_WHERE} are held by limits alone ({level.words}): one that a file takes over is Aldis's user"
    return warning(what, "use Linux 5.13 or later on x86-64 or aarch64; in a container see what its runtime allows")
