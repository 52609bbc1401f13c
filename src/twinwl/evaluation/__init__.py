"""Evaluation of methods: folds, protocols, the result store and significance tests."""
