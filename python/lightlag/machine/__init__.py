"""The machine that runs lightlag: memory, child processes, and code that does not return."""
