"""The systems of the gallery, one module each."""
