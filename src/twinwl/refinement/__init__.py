"""Twin passing on plain arrays: 1-WL colours and identity sets of all nodes."""
