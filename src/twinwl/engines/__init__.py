"""Where tasks run: in processes on this machine, or on a Ray cluster. Results do not depend on it."""
