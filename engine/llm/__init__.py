"""Language models behind the OpenAI protocol, and the embedded one."""
