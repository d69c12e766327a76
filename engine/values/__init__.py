"""What the rooms hand to each other: frozen values, ports, settings, errors."""
