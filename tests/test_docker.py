"""What one deploys: the compose files, the image, and the example of the settings file."""

import os
import re
import shutil
import subprocess
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from bot.invocation import VARIABLE
from bot.settings import load_settings
from bot.settings.load import NAMES
from bot.shutdown import MAX_SECONDS

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
    def test_no_service_is_reached_from_outside(self, name: str) -> None:
        """Signal's interface knows no password: no port is published; the services meet at a socket or on a network
        that has no way out; each has a way out of its own.
        """
        found = composed(name)
        assert not [service for service in found["services"].values() if service.keys() & {"ports", "expose"}]
        ours, signal = (set(service["networks"]) for service in found["services"].values())
        meets = {"compose.yaml": [], "compose.rest-api.yaml": [{"internal": True}]}
        assert [found["networks"][common] for common in ours & signal] == meets[name]
        assert [found["networks"][way] for way in ours ^ signal] == [{}, {}]

    def test_every_service_is_kept_within_bounds(self, name: str) -> None:
        """Restarted, without new privileges, with bounded memory, processes and log, without swap and core dumps; a
        version of a foreign image that no one has tried does not come by itself.
        """
        services = composed(name)["services"].values()
        for service in services:
            assert service["restart"] == "unless-stopped"
            assert service["cap_drop"] == ["ALL"]
            assert service["security_opt"] == ["no-new-privileges:true"]
            assert service["ulimits"] == {"core": 0}
            assert service["mem_limit"] == service["memswap_limit"]  # none of it is swapped to the disk
            assert service["pids_limit"] > 0
            assert service["init"] is True
            assert set(service["logging"]["options"]) == {"max-size", "max-file"}
        [image] = [service["image"] for service in services if "build" not in service]
        assert re.search(r":\d+\.\d+(\.\d+)?$", image)

    def test_aldis_can_write_its_data_alone(self, name: str) -> None:
        """A read-only root, no capability, one volume, and the files that came; from what it may write nothing is run.

        The volume of files is shared with signal-cli, in memory, and mounted where `SIGNAL__ATTACHMENTS` says.
        """
        aldis = composed(name)["services"]["aldis"]
        assert aldis["read_only"] is True
        # Docker mounts these with nosuid, nodev and noexec by default.
        assert [place.partition(":")[0] for place in aldis["tmpfs"]] == ["/tmp"]
        assert not re.search(r"\b(exec|suid|dev)\b", aldis["tmpfs"][0])
        assert "cap_add" not in aldis
        files = [f"attachments:{path}" for path in [aldis["environment"].get("SIGNAL__ATTACHMENTS")] if path]
        socket = ["signal-socket:/run/signal-cli"] if aldis["environment"]["SIGNAL__URL"].startswith("unix:") else []
        assert aldis["volumes"] == ["aldis-data:/data", *files, *socket]
        assert aldis["environment"]["STORE__PATH"].startswith("/data/")

    def test_aldis_is_set_and_stopped_as_it_asks_for(self, name: str) -> None:
        """What the file sets, commented lines included, is read by Aldis; .env may be missing; a stop has its time; and
        a model on the host is reached by the name that the doctor advises, which Docker on Linux has to be given.
        """
        aldis = composed(name)["services"]["aldis"]
        text = (ROOT / "docker" / name).read_text(encoding="utf-8")
        named = {*aldis["environment"], *re.findall(r"^ *# ([A-Z_]+_FILE):", text, re.MULTILINE)}
        assert named <= {*NAMES, VARIABLE}
        urls = {"compose.yaml": "unix:///run/signal-cli/socket", "compose.rest-api.yaml": "http://signal-api:8080"}
        assert load_settings(aldis["environment"], None).signal.url == urls[name]
        assert aldis["env_file"] == [{"path": "../.env", "required": False}]
        assert float(aldis.get("stop_grace_period", "10s").removesuffix("s")) > MAX_SECONDS
        assert aldis["extra_hosts"] == ["host.docker.internal:host-gateway"]


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


def test_what_signal_fetches() -> None:
    """Nothing while no Aldis listens; pictures, voice notes and documents, which Aldis reads, and no stories."""
    command = composed("compose.yaml")["services"]["signal-cli"]["command"]
    assert command[0] == "daemon"
    assert {"--receive-mode=manual", "--no-receive-stdout", "--ignore-stories"} <= set(command)
    assert not [option for option in command if option.startswith(("--http", "--tcp", "--ignore-attachments"))]
    environment = composed("compose.rest-api.yaml")["services"]["signal-api"]["environment"]
    assert environment.get("JSON_RPC_IGNORE_ATTACHMENTS") is None
    assert environment["JSON_RPC_IGNORE_STORIES"] == "true"


def test_what_people_send_is_never_on_the_disk() -> None:
    """signal-cli keeps files for ever, and in the other image prints every message into its log: they are in memory,
    bounded, and where Aldis shares them, it can delete them as another user.
    """
    found = composed("compose.yaml")
    options = found["volumes"]["attachments"]["driver_opts"]
    assert (options["type"], options["device"]) == ("tmpfs", "tmpfs")
    size, mode, *never = options["o"].split(",")
    assert int(size.removeprefix("size=").removesuffix("m")) * 4 <= 1024  # a part of what signal-cli may have
    assert mode == "mode=0777"  # without the sticky bit, under which only the owner of a file may delete it
    assert set(never) == {"nosuid", "nodev", "noexec"}
    assert "attachments:/var/lib/signal-cli/attachments" in found["services"]["signal-cli"]["volumes"]
    places = composed("compose.rest-api.yaml")["services"]["signal-api"]["tmpfs"]
    sizes = {place.partition(":")[0]: re.search(r"size=(\d+)m", place) for place in places}
    kept = "/home/.local/share/signal-cli"
    assert set(sizes) == {"/var/log/signal-cli-json-rpc-1", f"{kept}/attachments", "/tmp"}
    assert sum(int(size[1]) for size in sizes.values() if size) <= 512  # half of what the bridge may have


class TestImage:
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

    def test_is_built_of_what_is_pinned_and_runs_without_privileges(self) -> None:
        """Hashes are checked, both stages stand on the same Python, pinned by its digest; the last user is a number
        and not root; label and tags are of the package's version.
        """
        assert "--require-hashes" in self.text
        assert re.findall(r"^FROM (\S+)", self.text, re.MULTILINE) == ["${BASE}", "${BASE}"]
        [base] = re.findall(r"^ARG BASE=(\S+)", self.text, re.MULTILINE)
        assert re.fullmatch(r"python:3\.13\.\d+-slim-\w+@sha256:[0-9a-f]{64}", base)
        assert re.findall(r"^USER (.+)$", self.text, re.MULTILINE) == ["10001:10001"]
        assert self.text.index("\nUSER ") < self.text.index("\nENTRYPOINT ")
        version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
        assert f'org.opencontainers.image.version="{version}"' in self.text
        assert f" -t aldis:{version} ." in self.text.splitlines()[0]
        assert {composed(name)["services"]["aldis"]["image"] for name in COMPOSE_FILES} == {f"aldis:{version}"}

    def test_is_sent_what_it_copies_and_no_data_and_no_key(self) -> None:
        """Everything that is copied passes .dockerignore; data and keys do not, wherever they were left."""
        lines: list[str] = re.findall(r"^COPY (?!--from)(.+) \S+$", self.text, re.MULTILINE)
        copied = [path for line in lines for path in line.split()]
        extras = {f"docker/{extra}.lock" for extra in ("code", "ddgs", "mcp", "postgres", "recall")}
        locks = {"requirements.lock", "docker/build.lock", *extras}
        assert set(copied) == {*locks, "pyproject.toml", "README.md", "LICENSE", "bot", "store", "tools"}
        assert all(self.is_sent(path) for path in [*copied, "bot/settings/__init__.py", "store/schema/042_base.sql"])
        for path in (".env", ".env.mine", "data/aldis.db", ".git/config", "secrets/key", "store/aldis.db", "bot/a.key"):
            assert not self.is_sent(path), path


def test_the_example_of_the_settings_file(tmp_path: Path) -> None:
    """Its names are known and stand there once; copied as it is it changes nothing, and switched on all of it loads."""
    example = ROOT / ".env.example"
    text = example.read_text(encoding="utf-8")
    names = [found["name"] for found in SET_LINE.finditer(text)]
    assert len(names) > 20
    assert len(set(names)) == len(names)
    assert set(names) <= set(NAMES)
    assert load_settings({}, example) == load_settings({}, None)
    path = tmp_path / ".env"
    path.write_text(SET_LINE.sub(r"\g<name>=", text), encoding="utf-8")
    found = load_settings({"ANTHROPIC_API_KEY": "key"}, path)
    assert found.llm.providers_in_order == ("anthropic", "openai")
    assert found.access.allowed[0] == "+12025550123"


def test_figures_are_reached_by_who_gathers_them_alone() -> None:
    """Over a network without a way out; the one page that is published is so to this machine alone. The images are
    pinned, and every file that they are handed is there.
    """
    found = composed("compose.monitoring.yaml")
    services, networks = found["services"], found["networks"]
    assert networks["metrics"] == {"internal": True}
    gather = ["aldis", "prometheus", "grafana"]
    assert [name for name, service in services.items() if "metrics" in service["networks"]] == gather
    assert services["prometheus"]["networks"] == ["metrics"]
    published = [port for service in services.values() for port in service.get("ports", ())]
    assert published
    assert all(port.startswith("127.0.0.1:") for port in published)
    for service in (services["prometheus"], services["grafana"]):
        assert (service["cap_drop"], service["read_only"], service["restart"]) == (["ALL"], True, "unless-stopped")
        assert re.search(r":v?\d+\.\d+\.\d+@sha256:[0-9a-f]{64}$", service["image"])
        handed = [volume.split(":") for volume in service["volumes"] if volume.startswith("./")]
        assert all((ROOT / "docker" / source).is_file() and mode == "ro" for source, _, mode in handed)


def test_everything_private_stays_inside() -> None:
    """Aldis meets the others where there is no way out, each named by its address as a service, and none published; and
    the file that is handed in is there: SearXNG answers JSON by it, and counts no one's questions.
    """
    found = composed("compose.private.yaml")
    services: dict[str, Any] = found["services"]
    assert found["networks"]["inside"] == {"internal": True}
    assert all("inside" in service["networks"] for service in services.values())
    assert not [service for service in services.values() if service.keys() & {"ports", "expose"}]
    given = services["aldis"]["environment"]
    hosts = {urlsplit(value).hostname for value in given.values() if value.startswith("http")}
    assert hosts == services.keys() - {"aldis"} == set(services["aldis"]["depends_on"])
    for name in hosts:
        assert re.search(r":v?\d+(\.\d+)+", services[name]["image"]), name
        assert services[name]["cap_drop"] == ["ALL"], name
    [handed] = services["searxng"]["volumes"]
    search = yaml.safe_load((ROOT / "docker" / handed.split(":")[0]).read_text(encoding="utf-8"))
    assert "json" in search["search"]["formats"]
    assert search["server"]["limiter"] is False
