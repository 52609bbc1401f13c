"""STwin: features, kernels, classifiers and their explanation."""
