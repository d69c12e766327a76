"""What is said to the asker: questions back, refusals, follow-ups, answers from the catalog."""
