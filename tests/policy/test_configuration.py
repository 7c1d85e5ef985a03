"""One configuration from file, environment and flags, and every mistake in it at its place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from autoscaler.adapters.configuration import load_config
from autoscaler.config import Config, settings
from autoscaler.errors import ConfigError
from tests.policy.making import ROOT


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "c.yaml"


def errors(*arguments: object) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load_config(*arguments)  # type: ignore[arg-type]  # the tests pass what they please
    return str(caught.value).splitlines()


def test_without_anything_the_defaults_hold() -> None:
    assert load_config(None, {}, {}) == Config()


def test_flags_win_over_the_environment_and_that_over_the_file(file: Path) -> None:
    file.write_text("prometheus: {url: http://file, tenant: file, timeout: 7s}\nperiod: 2m\n")
    environment = {"FORETIDE_PROMETHEUS_URL": "http://env", "FORETIDE_PROMETHEUS_TENANT": "env"}
    config = load_config(file, environment, {"prometheus.url": "http://flag", "period": None})
    assert (config.prometheus.url, config.prometheus.tenant) == ("http://flag", "env")
    assert (config.prometheus.timeout, config.period) == (7.0, 120.0)


def test_the_environment_may_name_the_file(file: Path) -> None:
    file.write_text("period: 2m\n")
    assert load_config(None, {"FORETIDE_CONFIG": str(file)}, {}).period == 120.0


@pytest.mark.parametrize("setting", settings(), ids=lambda setting: setting.name)
def test_every_setting_can_be_given_by_its_variable(setting: object) -> None:
    # a text that is right for each kind of setting; the type is the field's own business
    texts = {
        "prometheus.url": "http://p",
        "prometheus.headers": "X-A=1, X-B=2",
        "telemetry.logs.format": "json",
        "telemetry.logs.level": "debug",
        "observeOnly": "true",
        "leaderElection.enabled": "false",
        "leaderElection.retry": "1s",
        "leaderElection.renew": "5s",
        "leaderElection.lease": "20s",
        "kubernetes.connectTimeout": "4s",
        "kubernetes.readTimeout": "4s",
        "prometheus.timeout": "4s",
        "period": "30s",
        "step": "30s",
        "telemetry.records.keep": "30d",
        "telemetry.records.megabytes": "500",
        "web.port": "0",
    }
    given = {setting.environment: texts.get(setting.name, "some-text")}  # type: ignore[attr-defined]
    if setting.name in {"prometheus.certFile", "prometheus.keyFile"}:  # type: ignore[attr-defined]
        given |= {"FORETIDE_PROMETHEUS_CERT_FILE": "c", "FORETIDE_PROMETHEUS_KEY_FILE": "k"}
    value: object = load_config(None, given, {})
    default: object = Config()
    for key in setting.path:  # type: ignore[attr-defined]
        field = next(n for n, f in type(value).model_fields.items() if (f.alias or n) == key)  # type: ignore[attr-defined]
        value, default = getattr(value, field), getattr(default, field)
    assert value != default


def test_every_mistake_is_told_with_its_origin(file: Path) -> None:
    file.write_text(
        "prometheus: {url: prom:9090, keyFile: k}\n"
        "periode: 1m\n"
        "leaderElection: {renew: 20s}\n"
        "web: {port: 80, port: 81}\n"
    )
    environment = {"FORETIDE_STEP": "7m", "FORETIDE_PROMETHEUS_ULR": "x", "FORETIDE_WEB_PORT": "x"}
    flags = {"telemetry.logs.format": "jsn", "kubernetes.contxt": "x"}
    assert sorted(errors(file, environment, flags)) == sorted(
        [
            f"{file}:4:17: web.port: found the key a second time (first in line 4); each key once",
            "environment variable FORETIDE_PROMETHEUS_ULR: no such setting; "
            "docs/reference/configuration.md lists what there is; "
            "did you mean FORETIDE_PROMETHEUS_URL?",
            "command line (kubernetes.contxt): no such setting; "
            "docs/reference/configuration.md lists what there is; "
            "did you mean kubernetes.context?",
            f'{file}:1:19: prometheus.url: found "prom:9090"; '
            "allowed: an address such as http://prometheus.monitoring:9090",
            f"{file}:1:39: prometheus.keyFile: found only one of certFile and keyFile; "
            "both or neither",
            "environment variable FORETIDE_STEP: step: found 420s; "
            "whole seconds that divide an hour, such as 60s or 5m",
            f"{file}:3:25: leaderElection.renew: found 20s; less than lease (10s)",
            "command line: telemetry.logs.format: "
            'found "jsn"; allowed: auto | text | json; did you mean json?',
            f"{file}:2:1: periode: unknown key; allowed: prometheus, kubernetes, policies, period, "
            "step, observeOnly, leaderElection, telemetry, web; did you mean period?",
        ]
    )


def test_a_wrong_variable_is_told_with_its_name() -> None:
    assert errors(None, {"FORETIDE_WEB_PORT": "http"}, {}) == [
        'environment variable FORETIDE_WEB_PORT: web.port: found "http"; '
        "allowed: a whole number (at least 0, at most 65535)"
    ]
    assert errors(None, {"FORETIDE_OBSERVE_ONLY": "yes"}, {}) == [
        'environment variable FORETIDE_OBSERVE_ONLY: observeOnly: found "yes"; '
        "allowed: true | false"
    ]


def test_a_secret_is_not_repeated() -> None:
    (message,) = errors(None, {"FORETIDE_PROMETHEUS_HEADERS": "s3cr3t"}, {})
    assert message == (
        "environment variable FORETIDE_PROMETHEUS_HEADERS: prometheus.headers: "
        "not all of it is name=value, separated by commas"
    )


def test_variables_of_a_service_called_foretide_are_left_alone() -> None:
    environment = {
        "FORETIDE_SERVICE_HOST": "10.0.0.7",
        "FORETIDE_SERVICE_PORT": "8080",
        "FORETIDE_SERVICE_PORT_METRICS": "8080",
        "FORETIDE_PORT": "tcp://10.0.0.7:8080",
        "FORETIDE_PORT_8080_TCP": "tcp://10.0.0.7:8080",
        "FORETIDE_PORT_8080_TCP_ADDR": "10.0.0.7",
        "FORETIDE_METRICS_SERVICE_HOST": "10.0.0.8",
        "FORETIDE_LAB_CACHE": "/somewhere",
        "PROMETHEUS_URL": "http://other",
    }
    assert load_config(None, environment, {}) == Config()


def test_variables_of_the_checkout_s_own_tools_are_left_alone() -> None:
    scripts = [*ROOT.glob("tools/*.sh"), *ROOT.glob("tests/lab/*.py")]
    places = [ROOT / "Makefile", ROOT / ".ci" / "run", *scripts]
    text = "".join(place.read_text() for place in places)
    names = set(re.findall(r"FORETIDE_[A-Z_]*[A-Z]", text))
    assert "FORETIDE_LAB_CACHE" in names
    known = {setting.environment for setting in settings()}
    environment = dict.fromkeys(names - known - {"FORETIDE_CONFIG"}, "x")
    assert load_config(None, environment, {}) == Config()


def test_an_empty_variable_takes_back_what_the_file_says(file: Path) -> None:
    file.write_text("prometheus: {tenant: a}\n")
    assert load_config(file, {"FORETIDE_PROMETHEUS_TENANT": ""}, {}).prometheus.tenant is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- 1\n", ":1:1: found a list of 1; allowed: a mapping of settings"),
        ("a: [\n", ":2:1: no YAML: while parsing a flow node did not find expected node content"),
        ("period: 1m\n---\nperiod: 2m\n", ":3:1: found a second document; one is allowed"),
    ],
)
def test_a_file_that_is_no_configuration_is_refused(file: Path, text: str, message: str) -> None:
    file.write_text(text)
    assert errors(file, {}, {}) == [f"{file}{message}"]


def test_an_empty_file_is_an_empty_configuration(file: Path) -> None:
    file.write_text("# nothing yet\n")
    assert load_config(file, {}, {}) == Config()


def test_a_file_that_is_not_there_is_told(file: Path) -> None:
    assert errors(file, {}, {}) == [f"{file}: cannot be read: No such file or directory"]


def test_the_example_of_the_reference_is_a_configuration(file: Path) -> None:
    text = (ROOT / "docs" / "reference" / "configuration.md").read_text()
    file.write_text(text.partition("```yaml\n")[2].partition("```")[0])
    config = load_config(file, {}, {})
    assert config.kubernetes.namespaces == ("llm", "chat")


def test_the_deployed_configuration_is_one(file: Path) -> None:
    document = yaml.safe_load((ROOT / "deploy" / "config.yaml").read_text())
    file.write_text(document["data"]["config.yaml"])
    config = load_config(file, {}, {})
    assert config.web.address == "0.0.0.0", "probes must reach it"
    assert config.leader_election.enabled


def test_every_setting_says_what_it_means() -> None:
    assert [setting.name for setting in settings() if not setting.field.description] == []
