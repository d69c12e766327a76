"""Literals that statements compare columns with: what finding the stored ones costs, and how often it is right."""
