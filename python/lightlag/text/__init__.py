"""Text for display: quantities, tables, diagrams of scenarios, TOML, progress."""
