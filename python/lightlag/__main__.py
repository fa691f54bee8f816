"""``python -m lightlag`` is the command ``lightlag``."""

from lightlag._start import main

if __name__ == "__main__":
    main()
