"""The DBA's page: what `nl_catalog` knows and lets its caller change, in a browser."""
