"""What turns graphs into the inputs of the other methods' networks."""
