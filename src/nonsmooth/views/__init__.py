"""Views of a result: plots.

Nothing here is imported before something is shown.
"""
