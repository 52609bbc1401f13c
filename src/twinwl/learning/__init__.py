"""What all neural parts share: sparse products, the trainer with early stopping, the classifier's frame."""
