"""Understanding a question before and beside its statements: its language, its form, and what nothing stands for."""
