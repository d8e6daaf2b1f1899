"""Views of a result: plots, and pages in the browser.

Nothing here is imported before something is shown.
"""
