"""The other rows of the paper's tables: graph kernels and graph neural networks to compare with."""
