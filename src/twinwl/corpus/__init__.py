"""Corpora: graphs beyond memory, as a folder of Parquet shards with a content key for each graph."""
