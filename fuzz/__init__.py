"""Random models, run and audited from their columns alone; see docs/fuzz.md."""
