"""Folds, protocols, the result store and significance: how good a method is, honestly."""
