"""NTwin-GNN: rooted subgraphs, their colour quotient, the neural model and its classifier."""
