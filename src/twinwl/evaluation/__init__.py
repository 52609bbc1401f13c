"""Folds, protocols, the result store and significance: how good is a method, honestly?"""
