"""Files that lightlag reads and writes."""
