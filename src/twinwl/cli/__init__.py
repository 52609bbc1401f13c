"""The ``twinwl`` command, one module per subcommand."""
