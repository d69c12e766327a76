"""What terms of the business are worth: Defog's questions that use one, asked with and without it in the catalog.

Defog tells what its terms mean in instructions beside the question. Here no instruction is shown; those that define one
expression stand in the catalog as terms, worded from the instruction, and the same question is asked both ways.
"""
