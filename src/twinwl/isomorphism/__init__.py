"""The Twin-WL test: compare two graphs, read rooted subgraphs out, hash and de-duplicate."""
