"""Readers: one paper, one file; `registry` has them by name, `settings` their settings without torch."""
