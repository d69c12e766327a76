"""Questions that a strong model is asked anew, with the prompts of this tree: any service, given by its address.

*everyday*: thirty questions of our own that avoid their schemas' words, over five small databases, each put by somebody
who is connected to its database and by somebody who is connected to none. *field*: cases after public reports,
connected. *ambrosia*: questions that no recording holds, ambiguous and clear, their database named.

A person, or another program, can play the model: a service that writes prompts to files and answers 404 until their
answers are there needs two passes. Without a service a stand-in says of each question that it cannot answer.
"""
