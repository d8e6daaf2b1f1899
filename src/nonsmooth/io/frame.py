"""What every model file has, whatever is in it: version, top-level keys, limits."""

from __future__ import annotations

VERSION = 1  # of the file format
SIZE_LIMIT = 5_000_000  # bytes; bounds the time a hostile file can take
DEPTH_LIMIT = 40  # levels of nesting; a model needs about six

# Top-level keys that are not fields of the model.
VERSION_KEY = "nonsmooth"
SCHEMA_KEY = "$schema"  # for editors
GALLERY_KEYS = ("gallery", "parameters")
RUN_KEY = "run"  # a field of the model that a file may give a gallery system too
START = f"{VERSION_KEY}: {VERSION}"  # how a file begins
