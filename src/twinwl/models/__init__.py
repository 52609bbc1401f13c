"""What is fitted to graphs without torch: features, kernels and the support vector machines on them."""
