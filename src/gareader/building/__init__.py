"""Cloze corpora from one's own text: books, news, pairs of articles on the same event."""
