"""``python -m twinwl`` is the command ``twinwl``."""

from twinwl.cli.app import main

main()
