"""`pgparley eval`: its file of questions, the run, the report, and what compares it with an earlier one."""
