"""Collects `.feature` files directly: `pytest features/early_writer.feature` works, tags are markers."""

from pathlib import Path
from types import ModuleType

import pytest
from pytest_bdd import scenarios


class FeatureFile(pytest.Module):
    """A feature file as a module of tests."""

    def _getobj(self) -> ModuleType:
        module = ModuleType(self.path.stem)
        namespace = module.__dict__
        namespace.update(__file__=str(self.path), _scenarios=scenarios, _path=str(self.path))
        # pytest-bdd puts the tests into the namespace that calls it.
        exec(compile("_scenarios(_path)", str(self.path), "exec"), namespace)
        return module


def pytest_configure(config: pytest.Config) -> None:
    """Make every tag of a feature a known marker."""
    tags = {
        word[1:]
        for file in config.rootpath.glob("features/**/*.feature")
        for line in file.read_text(encoding="utf-8").splitlines()
        for word in line.split()
        if line.lstrip().startswith("@") and word.startswith("@")
    }
    for tag in sorted(tags):
        config.addinivalue_line("markers", f"{tag}: scenarios tagged @{tag}")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """Let pytest see feature files."""
    if file_path.suffix != ".feature":
        return None
    return FeatureFile.from_parent(parent, path=file_path)
