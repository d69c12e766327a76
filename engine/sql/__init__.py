"""What a statement means: the names it reads, its normal form. SQL files of the engine's own queries."""
