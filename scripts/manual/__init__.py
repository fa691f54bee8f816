"""The parts of the site that are generated: the reference of scenario keys, the gallery, pages from other folders."""
