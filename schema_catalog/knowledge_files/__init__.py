"""What a DBA says of databases as a file in YAML, for review and for other stores."""
