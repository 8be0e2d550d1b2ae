VENV := .venv
PYTHON := $(VENV)/bin/python
READY := $(VENV)/.ready

.PHONY: help
help:
	@echo "make demo        play the five walkthroughs, narrated"
	@echo "make test        lint, types, every feature, every test"
	@echo "make gate        the features against programs that are wrong in one place (SHARE=0.1 for a part of them)"
	@echo "make disturbed   the features while every job is restarted, and while batches come again"
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
	$(PYTHON) -m pytest -n 2

.PHONY: walkthroughs
walkthroughs: $(READY)
	$(PYTHON) -m pytest features -m walkthrough

SHARE := 1
SEED := $(shell date +%j)

.PHONY: gate
gate: $(READY)
	$(PYTHON) -m pytest features --mutate --mutate-share $(SHARE) --mutate-seed $(SEED) -p no:randomly

.PHONY: disturbed
disturbed: $(READY)
	$(PYTHON) -m pytest features --disturb restart
	$(PYTHON) -m pytest features --disturb replay

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
