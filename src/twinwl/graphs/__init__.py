"""GraphBatch, and everything that turns the outside world into one."""
