"""Files on disk: atomic writes, the content-addressed cache, model files without pickle."""
