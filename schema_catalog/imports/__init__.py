"""What other tools' files say of a database, as a file of knowledge."""
