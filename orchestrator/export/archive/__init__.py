"""The archive of an FMU: descriptions, model structure, sources, library, stamp of its origin."""
