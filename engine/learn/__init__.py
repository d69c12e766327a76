"""What choices and corrections teach."""
