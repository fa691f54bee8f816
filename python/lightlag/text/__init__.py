"""Text for people: quantities, tables, pictures of scenarios, TOML, progress."""
