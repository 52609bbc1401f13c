"""Known data sets: their names, where they are on this machine, their cards, and downloads."""
