"""Models, which are trained readers: on disk, packed, shared, and ready to answer."""
