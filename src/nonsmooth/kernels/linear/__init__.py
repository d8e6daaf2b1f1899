"""Small dense matrices, and the skyline of constraint rows."""
