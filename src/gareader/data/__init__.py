"""Text and questions as words: corpora, vocabulary, word vectors, prepared corpora."""
