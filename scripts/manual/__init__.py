"""The generated parts of the site: the reference of scenario keys, the gallery, pages from other directories."""
