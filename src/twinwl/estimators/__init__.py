"""What every estimator shares, without torch: so that it works on a core install."""
