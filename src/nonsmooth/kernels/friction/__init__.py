"""What contacts and joints with friction do: modes, sliding, the decision at rest."""
