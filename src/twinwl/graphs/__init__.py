"""GraphBatch, and its conversion from and to other formats."""
