# Short names; the two commands of README need no make.
.PHONY: throughput test demo bench bench-repack examples fuzz mutate lint types bless readme wheel

IN = source scripts/environment.sh && environment dev
SHELL = /usr/bin/env bash
MINUTES ?= 10
SEED ?= 1

test:  ; bash scripts/test.sh
demo:  ; bash scripts/demo.sh
bench: ; $(IN) && compiler && python -m fortrans.verify.pairs
bench-repack: ; $(IN) && compiler && python -m fortrans.verify.repack_bench
throughput: ; $(IN) && compiler && python -m fortrans.verify.throughput $(PROJECTS) $(if $(PEERS),--peers $(PEERS))
examples: ; $(IN) && compiler && python -m fortrans.verify.bench
fuzz:  ; $(IN) && compiler && python -m fortrans.verify.fuzz --minutes $(MINUTES) --seed $(SEED)
mutate: ; $(IN) && python tests/mutate.py
lint:  ; $(IN) && ruff check .
types: ; $(IN) && mypy
bless: ; $(IN) && compiler && python -m pytest --bless tests/test_fixtures.py
readme: ; $(IN) && python -m pytest -q --bless tests/test_readme.py -k 'intrinsics or example'
wheel: ; $(IN) && python -m build
