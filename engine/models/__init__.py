"""The networks behind ports of other rooms: the only importer of torch."""
