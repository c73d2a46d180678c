"""The files in deploy/ say what is so: commands that mnemic has, variables that it reads, paths that it serves."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import click
import pytest
import typer
import yaml

from mnemic.cli import app
from mnemic.config import Environment

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
OBJECTS = [one for one in yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text(encoding="utf-8")) if one]
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
DEPLOYMENTS = [one for one in OBJECTS if one["kind"] == "Deployment"]
CONTAINERS = [container for one in DEPLOYMENTS for container in one["spec"]["template"]["spec"]["containers"]]
SERVICES = COMPOSE["services"]
OURS = {name: one for name, one in SERVICES.items() if "build" in one}


@pytest.mark.parametrize(
    "arguments", [*(one["args"] for one in CONTAINERS), *(one["command"] for one in OURS.values())]
)
def test_the_commands_are_ours(arguments: list[str]) -> None:
    name, *options = arguments
    group = typer.main.get_command(app)
    command = group.commands[name]
    with click.Context(group) as parent:
        command.make_context(name, list(options), parent=parent)


def test_the_variables_are_read() -> None:
    named = {variable["name"] for one in CONTAINERS for variable in one["env"]}
    named |= {name for one in OURS.values() for name in one["environment"]} - {"PGPASSWORD"}
    assert named == {"MNEMIC_DB"}
    assert '"MNEMIC_DB"' in inspect.getsource(Environment)


def test_the_probes_ask_what_is_served() -> None:
    from mnemic.service.health import router

    paths = {route.path for route in router.routes}
    asked = {one[probe]["httpGet"]["path"] for one in CONTAINERS for probe in one if probe.endswith("Probe")}
    assert asked == {"/ready", "/health"}
    assert asked <= paths


def test_what_selects_finds_what_is_there() -> None:
    labels: list[dict[str, Any]] = []
    for one in DEPLOYMENTS:
        its = one["spec"]["template"]["metadata"]["labels"]
        assert one["spec"]["selector"]["matchLabels"] == its == one["metadata"]["labels"]
        labels.append(its)
    (service,) = (one for one in OBJECTS if one["kind"] == "Service")
    assert service["spec"]["selector"] in labels
    ports = {port["name"] for one in CONTAINERS for port in one.get("ports", [])}
    assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports
    assert len({one["metadata"]["name"] for one in OBJECTS}) == len(OBJECTS)
    assert {one["apiVersion"] for one in DEPLOYMENTS} == {"apps/v1"}


def test_compose_names_what_it_has() -> None:
    assert set(SERVICES) == {"postgres", "server", "worker"}
    for one in OURS.values():
        assert set(one["depends_on"]) <= set(SERVICES)
        assert (DEPLOY / one["build"]["context"] / one["build"]["dockerfile"]).is_file()
        assert "@postgres/" in one["environment"]["MNEMIC_DB"]
    for volume in SERVICES["postgres"]["volumes"]:
        assert volume.partition(":")[0] in COMPOSE["volumes"]
    assert "healthcheck" in SERVICES["postgres"]


def test_the_image_is_made_of_what_is_here() -> None:
    lines = (DEPLOY / "Dockerfile").read_text(encoding="utf-8").splitlines()
    copied = [line.split()[1:-1] for line in lines if line.startswith("COPY")]
    assert all((DEPLOY.parent / name).exists() for names in copied for name in names)
    assert "USER mnemic" in lines
