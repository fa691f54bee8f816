"""The labs, one module each."""
