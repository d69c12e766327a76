"""The demo: sample databases, the questions asked of them, and the run that shows the gateway at work."""
