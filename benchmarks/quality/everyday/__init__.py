"""Everyday questions that avoid the schema's words, over five small databases of our own: are they asked, and right?

Each is put twice: by somebody who is connected to its database, and by somebody who is connected to none. The model is
any service of OpenAI's protocol, given by its address; without one a stand-in says of each question that it cannot
answer, which tells how many reach the model at all.
"""
