"""One entry put into a document that people write, or taken out, every other byte kept."""
