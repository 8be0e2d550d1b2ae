VENV := .venv
PYTHON := $(VENV)/bin/python
READY := $(VENV)/.ready

.PHONY: help
help:
	@echo "make demo        play the five walkthroughs, narrated"
	@echo "make test        lint, types, every feature, every test"
	@echo "make walkthroughs  the five walkthroughs alone"
	@echo "make vocabulary  write docs/vocabulary.md anew"
	@echo "make package     build dist/headgate.zip for spark-submit --py-files"

.PHONY: demo
demo: $(READY)
	$(PYTHON) -m pytest features -m walkthrough --narrate --capture=no --quiet --no-header -p no:randomly

.PHONY: test
test: $(READY)
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy
	$(PYTHON) -m pytest -n 2 --dist loadgroup

.PHONY: walkthroughs
walkthroughs: $(READY)
	$(PYTHON) -m pytest features -m walkthrough

.PHONY: vocabulary
vocabulary: $(READY)
	$(PYTHON) -m headgate.tell.vocabulary > docs/vocabulary.md

.PHONY: package
package:
	@python3 -m jobs.command.package

$(READY): pyproject.toml constraints.txt
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: python3 is $$(python3 --version)."; exit 1; }
	python3 -m venv $(VENV)
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test]'
	touch $@
