"""What was said of a database, in the forms of other tools; `schema_catalog/imports` reads them."""
