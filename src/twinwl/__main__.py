"""``python -m twinwl`` is the command ``twinwl``."""

from twinwl.cli.app import main

if __name__ == "__main__":
    main()
