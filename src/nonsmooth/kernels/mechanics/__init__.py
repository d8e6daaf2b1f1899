"""From time and state to accelerations and reactions."""
