"""The shared parts of all estimators, without torch: targets, hold-out, calibration, explanation, state."""
