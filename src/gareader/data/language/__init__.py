"""English: sentences, parts of speech, names and entities."""
