"""``python -m lightlag`` is the command ``lightlag``."""

from lightlag.cli import main

if __name__ == "__main__":
    main()
