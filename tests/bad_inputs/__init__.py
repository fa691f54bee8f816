"""Bad inputs by subject, made systematically: each is a mistake of its own, with what its message has to name."""
