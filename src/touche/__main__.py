"""``python -m touche`` is the ``touche`` command."""

from touche.cli import main

main()
