"""The machine below: memory, child processes, and code that does not return."""
