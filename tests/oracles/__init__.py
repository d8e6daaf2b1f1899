"""Closed forms and slow references, written without the library.

Nothing here imports nonsmooth and nothing here asserts: the modules give
numbers, the tests compare. Angles are counter-clockwise from +x and in radians,
units are SI, forces act on the body named, unless a docstring says otherwise.
"""
