"""What a statement says: parsed, bound, printed anew, told in words."""
