"""The plugin in somebody else's project: it keeps still until there is a feature of ours, and collides with nothing."""

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

SECONDS = 120
STILL = """
    import sys
    import pytest

    def test_nothing_is_loaded(request):
        heavy = {"pyspark", "py4j", "docker", "testcontainers", "confluent_kafka", "chispa", "pandas", "pyarrow"}
        assert not heavy & set(sys.modules)
        for name in ("stage", "spark", "kafka", "topic", "headgate_stage"):
            with pytest.raises(pytest.FixtureLookupError):
                request.getfixturevalue(name)
"""
CATS = """\
    @pets
    Feature: Cats
      Scenario: A cat sleeps
        Given the day is long
        Then the cat sleeps
"""
CAT_STEPS = """
    from pytest_bdd import given, scenarios, then

    scenarios("cats.feature")

    @given("the day is long")
    def _long(): ...

    @then("the cat sleeps")
    def _sleeps(): ...
"""
OURS = """\
    @quick
    Feature: Ours
      Scenario: Nothing comes of nothing
        Given the day is 2026-03-02
        And a spark of genius
"""
OWN_FIXTURES = """
    import pytest
    from pytest_bdd import given

    @pytest.fixture
    def stage():
        return "theatre"

    @pytest.fixture
    def spark(stage):
        return f"spark of the {stage}"

    @given("a spark of genius")
    def _genius(spark):
        assert spark == "spark of the theatre"
"""
DECLARED = """\
    [tool.headgate.jobs]
"""


class Project:
    """A project of somebody else's."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, path: str, text: str) -> None:
        """One of its files."""
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(dedent(text), encoding="utf-8")

    def pytest(self, *words: str) -> str:
        """What a run prints."""
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly", *words]
        run = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=SECONDS, check=False)
        return run.stdout + run.stderr


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty one."""
    return Project(tmp_path)


@pytest.mark.parametrize("declared", ["", DECLARED], ids=["that has never heard of us", "that declares jobs"])
def test_without_a_feature_it_keeps_still(declared: str, project: Project) -> None:
    project.write("pyproject.toml", declared)
    project.write("test_still.py", STILL)
    assert "1 passed" in project.pytest()


def test_features_of_others_are_left_alone(project: Project) -> None:
    project.write("cats.feature", CATS)
    project.write("test_cats.py", CAT_STEPS)
    project.write("test_still.py", STILL)
    printed = project.pytest()
    assert "2 passed" in printed
    assert "headgate:" not in printed


def test_features_of_others_are_left_alone_where_there_are_ours(project: Project) -> None:
    project.write("pyproject.toml", DECLARED)
    project.write("cats.feature", CATS.replace("Given the day is long", "Given a long day"))
    project.write("test_cats.py", CAT_STEPS.replace("the day is long", "a long day"))
    project.write("features/ours.feature", OURS)
    project.write("conftest.py", OWN_FIXTURES)
    printed = project.pytest("--collect-only", "-q")
    assert "features/ours.feature::test_nothing_comes_of_nothing" in printed
    assert "test_cats.py::test_a_cat_sleeps" in printed
    assert "cats.feature::" not in printed
    assert "2 tests collected" in printed


def test_fixtures_of_the_project_keep_their_names_and_tags_are_markers(project: Project) -> None:
    project.write("pyproject.toml", DECLARED)
    project.write("features/ours.feature", OURS)
    project.write("conftest.py", OWN_FIXTURES)
    assert "1 passed" in project.pytest("--kafka", "embedded", "-m", "quick", "--strict-markers")


def test_an_unreadable_pyproject_is_one_sentence(project: Project) -> None:
    project.write("pyproject.toml", "[tool.headgate.jobs\n")
    project.write("features/ours.feature", OURS)
    printed = project.pytest("features")
    assert "pyproject.toml" in printed
    assert "Traceback" not in printed
