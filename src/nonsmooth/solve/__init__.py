"""Drivers: simulation, equilibrium, consistent starts, verification."""
