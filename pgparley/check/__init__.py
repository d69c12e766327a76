"""`pgparley check`: what keeps this installation from working, and what to do about it. Reads, and changes nothing."""
