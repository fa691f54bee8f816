"""``python -m lightlag`` is the command ``lightlag``."""

from lightlag.cli import main

main()
