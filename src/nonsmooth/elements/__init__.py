"""Elements of a model, one file per family: dataclass and row function together."""
