"""Inputs of the baselines' networks, built from graphs."""
