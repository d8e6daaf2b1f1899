"""Motion in time: steps, guards, switches, jumps; one file for each scheme."""
