"""``python -m fortrans`` is the command ``fortrans``."""

from fortrans.cli import main

if __name__ == "__main__":
    main(prog_name="fortrans")
