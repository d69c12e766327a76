"""The embedded model server: llama.cpp behind the OpenAI protocol, with grammars and a prefix cache."""
