"""What tools of MCP servers are called: fit for every model, each name once, the same name for the same tool always."""

import re

from tools.mcp.servers import names_of


def named(server: str, *tools: str, servers: tuple[str, ...] = (), taken: tuple[str, ...] = ()) -> list[str]:
    return list(names_of(server, tools, servers={server, *servers}, taken=taken))


def test_what_would_be_called_alike_is_told_apart() -> None:
    """A name is made of both; a mark of what it stands for follows where another has it: in one listing, beside a tool
    that is always there, and over all servers.
    """
    for server, tool, name in (
        ("My Files!", "Read-File.v2", "my_files_read_file_v2"),
        ("7zip", "list", "mcp_7zip_list"),
        ("файлы", "читать", "x_x"),
        ("files", "", "files_x"),
    ):
        assert named(server, tool) == [name]
    one, other = named("files", "a b", "a-b")
    assert one != other
    assert re.fullmatch(r"files_a_b_[0-9a-f]{6}", one)
    [taken] = named("web", "search", taken=("web_search",))
    assert re.fullmatch(r"web_search_[0-9a-f]{6}", taken)
    assert [len(long) for long in named("files", "x" * 100)] == [64]
    assert named("files", "read", "read") == ["files_read"]
    [one], [other] = named("a", "b_c", servers=("a_b",)), named("a_b", "c", servers=("a",))
    assert all(re.fullmatch(r"a_b_c_[0-9a-f]{6}", name) for name in (one, other))
    assert one != other
    assert named("a", "d", servers=("a_b",)) == ["a_d"]
    assert named("A", "b", servers=("a",)) != named("a", "b", servers=("A",))
