"""The command line: the application, its start, completion, manual pages."""
