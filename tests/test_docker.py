"""What one deploys: the compose files, the image, and the example of the settings file."""

import os
import re
import shutil
import subprocess
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

import pytest
import yaml

from bot.invocation import VARIABLE
from bot.settings import load_settings
from bot.shutdown import MAX_SECONDS
from tests.variables import known_names

ROOT = Path(__file__).parent.parent
COMPOSE_FILES = ["compose.yaml", "compose.rest-api.yaml"]
OVERLAYS = {
    "compose.setup.yaml": {},
    "compose.monitoring.yaml": {"GRAFANA_PASSWORD": "secret"},
    "compose.private.yaml": {"SEARXNG_SECRET": "secret"},
}
"""What adds to one of them, and what each wants in the environment."""
SET_LINE = re.compile(r"^#?(?P<name>[A-Z][A-Z0-9_]*)=", re.MULTILINE)


def composed(name: str) -> dict[str, Any]:
    return yaml.safe_load((ROOT / "docker" / name).read_text(encoding="utf-8"))


def has_compose() -> bool:
    docker = shutil.which("docker")
    if docker is None:
        return False
    return subprocess.run([docker, "compose", "version"], check=False, capture_output=True).returncode == 0


def test_the_pages_for_set_up_are_published_to_this_machine_alone() -> None:
    """By a file beside the compose file, which publishes nothing; their port is the one that is listened on."""
    added = composed("compose.setup.yaml")["services"]
    assert set(added) == {"aldis"}
    port = added["aldis"]["environment"]["WEB__ADMIN_PORT"]
    assert added["aldis"]["ports"] == [f"127.0.0.1:{port}:{port}"]
    assert "aldis" in composed("compose.yaml")["services"]


# A machine without a client can run everything else; the tests below read the files themselves.
@pytest.mark.skipif(not has_compose(), reason="no docker client with compose here")
@pytest.mark.parametrize("beside", [None, *OVERLAYS])
@pytest.mark.parametrize("name", COMPOSE_FILES)
def test_docker_accepts_it(name: str, beside: str | None) -> None:
    """Alone and with each of the files that add to it, without a .env file, as in a fresh clone: not a warning."""
    files = [argument for file in (name, beside) if file for argument in ("--file", str(ROOT / "docker" / file))]
    wanted = OVERLAYS[beside] if beside else {}
    found = subprocess.run(
        ["docker", "compose", *files, "config", "--quiet"],
        env={**os.environ, **wanted},
        check=True,
        capture_output=True,
        text=True,
    )
    assert found.stderr == ""


@pytest.mark.parametrize("name", COMPOSE_FILES)
class TestCompose:
    """Both compose files."""

    def test_publishes_nothing(self, name: str) -> None:
        """Signal's interface knows no password: no port of any service is reachable from outside."""
        assert not [service for service in composed(name)["services"].values() if service.keys() & {"ports", "expose"}]

    def test_services_meet_nowhere_but_where_nobody_else_is(self, name: str) -> None:
        """At a socket, or on a network that has no way out; each has a way out of its own."""
        found = composed(name)
        ours, signal = (set(service["networks"]) for service in found["services"].values())
        meets = {"compose.yaml": [], "compose.rest-api.yaml": [{"internal": True}]}
        assert [found["networks"][common] for common in ours & signal] == meets[name]
        assert [found["networks"][way] for way in ours ^ signal] == [{}, {}]

    def test_every_service_is_kept_within_bounds(self, name: str) -> None:
        """Restarted, without new privileges, with bounded memory, processes and log, without swap and core dumps."""
        for service in composed(name)["services"].values():
            assert service["restart"] == "unless-stopped"
            assert service["cap_drop"] == ["ALL"]
            assert service["security_opt"] == ["no-new-privileges:true"]
            assert service["ulimits"] == {"core": 0}
            assert service["mem_limit"] == service["memswap_limit"]  # none of it is swapped to the disk
            assert service["pids_limit"] > 0
            assert service["init"] is True
            assert set(service["logging"]["options"]) == {"max-size", "max-file"}

    def test_aldis_can_write_its_data_alone(self, name: str) -> None:
        """A read-only root, no capability, one volume, and the files that came; from what it may write nothing is run.

        The volume of files is shared with signal-cli, in memory, and mounted where `SIGNAL__ATTACHMENTS` says.
        """
        aldis = composed(name)["services"]["aldis"]
        assert aldis["read_only"] is True
        # Docker mounts these with nosuid, nodev and noexec unless told otherwise.
        assert [place.partition(":")[0] for place in aldis["tmpfs"]] == ["/tmp"]
        assert not re.search(r"\b(exec|suid|dev)\b", aldis["tmpfs"][0])
        assert "cap_add" not in aldis
        files = [f"attachments:{path}" for path in [aldis["environment"].get("SIGNAL__ATTACHMENTS")] if path]
        socket = ["signal-socket:/run/signal-cli"] if aldis["environment"]["SIGNAL__URL"].startswith("unix:") else []
        assert aldis["volumes"] == ["aldis-data:/data", *files, *socket]
        assert aldis["environment"]["STORE__PATH"].startswith("/data/")

    def test_foreign_images_are_pinned(self, name: str) -> None:
        """A version that nobody has tried does not come by itself."""
        images = [service["image"] for service in composed(name)["services"].values() if "build" not in service]
        assert len(images) == 1
        assert all(re.search(r":\d+\.\d+(\.\d+)?$", image) for image in images)

    def test_settings_are_known(self, name: str) -> None:
        """What the file sets, commented lines included, is read by Aldis; .env may be missing."""
        aldis = composed(name)["services"]["aldis"]
        text = (ROOT / "docker" / name).read_text(encoding="utf-8")
        named = {*aldis["environment"], *re.findall(r"^ *# ([A-Z_]+_FILE):", text, re.MULTILINE)}
        assert named <= {*known_names(), VARIABLE}
        urls = {"compose.yaml": "unix:///run/signal-cli/socket", "compose.rest-api.yaml": "http://signal-api:8080"}
        assert load_settings(aldis["environment"], None).signal.url == urls[name]
        assert aldis["env_file"] == [{"path": "../.env", "required": False}]

    def test_aldis_has_the_time_it_asks_for(self, name: str) -> None:
        """Docker's own patience is enough for a stop, and a file that grants less of it would be a mistake."""
        grace = composed(name)["services"]["aldis"].get("stop_grace_period", "10s")
        assert float(grace.removesuffix("s")) > MAX_SECONDS


def test_signal_cli_fetches_only_while_aldis_listens() -> None:
    """Otherwise messages would be fetched for nobody, and stand in the log of its container."""
    command = composed("compose.yaml")["services"]["signal-cli"]["command"]
    assert command[0] == "daemon"
    assert {"--receive-mode=manual", "--no-receive-stdout"} <= set(command)
    assert not [option for option in command if option.startswith(("--http", "--tcp"))]


def test_only_aldis_reaches_the_socket_of_signal_cli() -> None:
    """It stands where Aldis looks for it, in a folder of Aldis's own group, and an old one is out of the way."""
    found = composed("compose.yaml")
    aldis, signal_cli = found["services"]["aldis"], found["services"]["signal-cli"]
    path = aldis["environment"]["SIGNAL__URL"].removeprefix("unix://")
    assert f"--socket={path}" in signal_cli["command"]
    assert "signal-socket:/run/signal-cli" in signal_cli["volumes"]
    [group] = signal_cli["group_add"]
    options = found["volumes"]["signal-socket"]["driver_opts"]
    assert {"mode=2770", f"gid={group}"} <= set(options["o"].split(","))
    assert f"aldis:x:{group}:" in (ROOT / "docker" / "Dockerfile").read_text(encoding="utf-8")
    shell, _, script, _ = signal_cli["entrypoint"]
    assert shell == "/bin/sh"
    assert script.startswith(f"umask 007; rm -f {path}; exec ")
    assert script.endswith('"$$@"')


def test_files_that_people_send_are_fetched_and_stories_are_not() -> None:
    """Aldis reads pictures, voice notes and documents; nobody tells it stories."""
    command = composed("compose.yaml")["services"]["signal-cli"]["command"]
    assert "--ignore-attachments" not in command
    assert "--ignore-stories" in command
    environment = composed("compose.rest-api.yaml")["services"]["signal-api"]["environment"]
    assert environment.get("JSON_RPC_IGNORE_ATTACHMENTS") is None
    assert environment["JSON_RPC_IGNORE_STORIES"] == "true"


def test_files_that_people_send_are_never_on_the_disk() -> None:
    """signal-cli keeps them for ever: they are in memory, bounded, where Aldis, as another user, can delete them."""
    found = composed("compose.yaml")
    options = found["volumes"]["attachments"]["driver_opts"]
    assert (options["type"], options["device"]) == ("tmpfs", "tmpfs")
    size, mode, *never = options["o"].split(",")
    assert int(size.removeprefix("size=").removesuffix("m")) * 4 <= 1024  # a part of what signal-cli may have
    assert mode == "mode=0777"  # without the sticky bit, under which only the owner of a file may delete it
    assert set(never) == {"nosuid", "nodev", "noexec"}
    assert "attachments:/var/lib/signal-cli/attachments" in found["services"]["signal-cli"]["volumes"]


def test_the_bridges_log_and_files_are_never_on_the_disk() -> None:
    """signal-cli in that image prints every message into its log, and keeps files beside its keys."""
    places = composed("compose.rest-api.yaml")["services"]["signal-api"]["tmpfs"]
    sizes = {place.partition(":")[0]: re.search(r"size=(\d+)m", place) for place in places}
    kept = "/home/.local/share/signal-cli"
    assert set(sizes) == {"/var/log/signal-cli-json-rpc-1", f"{kept}/attachments", "/tmp"}
    assert sum(int(size[1]) for size in sizes.values() if size) <= 512  # half of what the bridge may have


class TestImage:
    """The Dockerfile, and what reaches it."""

    text = (ROOT / "docker" / "Dockerfile").read_text(encoding="utf-8")
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()

    def is_sent(self, path: str) -> bool:
        """Whether the build sees the path: the last line that matches decides, as Docker does it."""
        sent = True
        for line in self.ignored:
            pattern = line.removeprefix("!")
            parts = path.split("/")
            heads = {"/".join(parts[:end]) for end in range(1, len(parts) + 1)}
            if any(fnmatch(f"/{head}", pattern.replace("**/", "*/")) or fnmatch(head, pattern) for head in heads):
                sent = line.startswith("!")
        return sent

    def test_installs_what_the_lock_names(self) -> None:
        """Hashes are checked, and both stages stand on the same Python, pinned by its digest."""
        assert "--require-hashes" in self.text
        assert re.findall(r"^FROM (\S+)", self.text, re.MULTILINE) == ["${BASE}", "${BASE}"]
        bases = re.findall(r"^ARG BASE=(\S+)", self.text, re.MULTILINE)
        assert len(bases) == 1
        assert re.fullmatch(r"python:3\.13\.\d+-slim-\w+@sha256:[0-9a-f]{64}", bases[0])

    def test_has_the_version_of_the_package(self) -> None:
        """Its label, the tag that its first line shows, and the tag of both compose files."""
        version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
        assert f'org.opencontainers.image.version="{version}"' in self.text
        assert f" -t aldis:{version} ." in self.text.splitlines()[0]
        for name in COMPOSE_FILES:
            assert composed(name)["services"]["aldis"]["image"] == f"aldis:{version}"

    def test_runs_without_privileges(self) -> None:
        """The last user is a number that is not root's, and it is set before anything runs."""
        assert re.findall(r"^USER (.+)$", self.text, re.MULTILINE) == ["10001:10001"]
        assert self.text.index("\nUSER ") < self.text.index("\nENTRYPOINT ")

    def test_copies_what_it_is_sent(self) -> None:
        """Everything that is copied passes .dockerignore."""
        lines: list[str] = re.findall(r"^COPY (?!--from)(.+) \S+$", self.text, re.MULTILINE)
        copied = [path for line in lines for path in line.split()]
        locks = {"requirements.lock", "docker/build.lock", "docker/mcp.lock", "docker/postgres.lock"}
        assert set(copied) == {*locks, "pyproject.toml", "README.md", "LICENSE", "bot", "store", "tools"}
        assert all(self.is_sent(path) for path in [*copied, "bot/settings/__init__.py", "store/schema/039_base.sql"])

    def test_is_sent_no_data_and_no_key(self) -> None:
        """Neither from their own folders nor from where somebody left them."""
        for path in (".env", ".env.mine", "data/aldis.db", ".git/config", "secrets/key", "store/aldis.db", "bot/a.key"):
            assert not self.is_sent(path), path


class TestExample:
    """`.env.example`."""

    text = (ROOT / ".env.example").read_text(encoding="utf-8")

    def test_names_are_known(self) -> None:
        """Every name is one that Aldis reads, and none stands twice."""
        names = [found["name"] for found in SET_LINE.finditer(self.text)]
        assert len(names) > 20
        assert len(set(names)) == len(names)
        assert set(names) <= set(known_names())

    def test_can_be_copied_as_it_is(self) -> None:
        """The file changes nothing until somebody fills something in."""
        assert load_settings({}, ROOT / ".env.example") == load_settings({}, None)

    def test_values_are_good(self, tmp_path: Path) -> None:
        """With every line switched on it loads."""
        path = tmp_path / ".env"
        path.write_text(SET_LINE.sub(r"\g<name>=", self.text), encoding="utf-8")
        found = load_settings({"ANTHROPIC_API_KEY": "key"}, path)
        assert found.llm.providers_in_order == ("anthropic", "openai")
        assert found.access.allowed[0] == "+12025550123"


class TestMonitoring:
    """What watches over Aldis, beside either of the other files."""

    def test_figures_are_reached_by_who_gathers_them_alone(self) -> None:
        """Over a network without a way out; the one page that is published is so to this machine alone."""
        found = composed("compose.monitoring.yaml")
        services, networks = found["services"], found["networks"]
        assert networks["metrics"] == {"internal": True}
        assert [name for name, service in services.items() if "metrics" in service["networks"]] == [
            "aldis",
            "prometheus",
            "grafana",
        ]
        assert services["prometheus"]["networks"] == ["metrics"]
        published = [port for service in services.values() for port in service.get("ports", ())]
        assert published
        assert all(port.startswith("127.0.0.1:") for port in published)

    def test_every_service_is_kept_within_bounds(self) -> None:
        """As those of the other files; their images are pinned, and every file that they are handed is there."""
        services = composed("compose.monitoring.yaml")["services"]
        for name in ("prometheus", "grafana"):
            service = services[name]
            assert (service["cap_drop"], service["read_only"], service["restart"]) == (["ALL"], True, "unless-stopped")
            assert re.search(r":v?\d+\.\d+\.\d+@sha256:[0-9a-f]{64}$", service["image"])
            handed = [volume.split(":") for volume in service["volumes"] if volume.startswith("./")]
            assert all((ROOT / "docker" / source).is_file() and mode == "ro" for source, _, mode in handed)


class TestPrivate:
    """What makes everything stay inside, beside either of the other files."""

    found = composed("compose.private.yaml")
    services: ClassVar[dict[str, Any]] = found["services"]

    def test_aldis_meets_the_others_where_there_is_no_way_out(self) -> None:
        """Each is named by its address as a service, on that network, and none is published."""
        assert self.found["networks"]["inside"] == {"internal": True}
        assert all("inside" in service["networks"] for service in self.services.values())
        assert not [service for service in self.services.values() if service.keys() & {"ports", "expose"}]
        given = self.services["aldis"]["environment"]
        hosts = {urlsplit(value).hostname for value in given.values() if value.startswith("http")}
        assert hosts == self.services.keys() - {"aldis"}
        assert set(self.services["aldis"]["depends_on"]) == hosts

    def test_foreign_images_are_pinned_and_held(self) -> None:
        """And the file that is handed in is there: SearXNG answers JSON by it, and counts nobody's questions."""
        for name, service in self.services.items():
            if name != "aldis":
                assert re.search(r":v?\d+(\.\d+)+", service["image"]), name
                assert service["cap_drop"] == ["ALL"], name
        [handed] = self.services["searxng"]["volumes"]
        search = yaml.safe_load((ROOT / "docker" / handed.split(":")[0]).read_text(encoding="utf-8"))
        assert "json" in search["search"]["formats"]
        assert search["server"]["limiter"] is False


@pytest.mark.parametrize("name", COMPOSE_FILES)
def test_a_model_on_the_host_can_be_reached(name: str) -> None:
    """By the name that the doctor advises; on Linux Docker knows it only where it is told."""
    assert composed(name)["services"]["aldis"]["extra_hosts"] == ["host.docker.internal:host-gateway"]
