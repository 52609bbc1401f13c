"""What every estimator shares, without torch: targets, hold-out, checks, calibration, explanation, state."""
