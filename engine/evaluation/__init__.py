"""Questions whose answer is known, asked as an asker would ask them; nothing of them is kept."""
