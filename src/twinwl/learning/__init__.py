"""Training of networks: sparse products, the trainer with early stopping, the base of neural estimators."""
