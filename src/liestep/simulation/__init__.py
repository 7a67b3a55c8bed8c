"""One run: catalogue, specification, execution, file; references, tangents, plugins."""
