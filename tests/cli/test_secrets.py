"""No secret of --kafka-option gets into what is shown."""

from pathlib import Path

import pytest

from jobs.command.arguments import parse
from jobs.command.secrets import Mask
from jobs.early_writer import JOB

JAAS = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="reader" password="hush hush";'


def masked(text: str, *settings: str) -> str:
    words = [word for setting in settings for word in ("--kafka-option", setting)]
    return Mask(parse(JOB, words))(text)


def test_settings_that_are_secret_by_name_are_hidden() -> None:
    assert masked("login with sesame", "ssl.key.password=sesame") == "login with *****"


def test_what_a_jaas_setting_quotes_is_hidden_alone_too() -> None:
    assert masked("wrong password 'hush hush'", f"sasl.jaas.config={JAAS}") == "wrong password '*****'"


def test_what_comes_from_the_environment_is_hidden_whatever_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_TEST_SECRET", "sesame")
    assert masked("client sesame", "client.id=env:HEADGATE_TEST_SECRET") == "client *****"


def test_every_line_of_a_file_is_hidden(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_text("first line\nsecond line\n")
    assert masked("has second line", f"ssl.keystore.key=file:{tmp_path}/key.pem") == "has *****"


def test_other_settings_are_shown() -> None:
    assert masked("over SASL_SSL", "security.protocol=SASL_SSL") == "over SASL_SSL"
