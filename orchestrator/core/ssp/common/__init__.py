"""What reading, writing and editing share: names, simple types, schemas, codes of findings."""
