"""The public Python door: the loops as plain values, and `run`, which drives one to its end."""
