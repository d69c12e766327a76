"""What a question may mean, the question back that tells its readings apart, and what follows from the answer."""
