"""The ``twinwl`` command, one module a subcommand."""
