"""What all benchmarks are made of, each thing once.

`questions` reads sets and draws from them (`drawing`), `site` starts PostgreSQL with the engine's own tools, `model`
the model's server, `replay` keeps its answers, `systems` answer, `running` asks them and keeps what they say
(`journal`), `scorer` has it judged, `outcomes` makes figures of it with `intervals`, `report` writes them. `answers` is
such a run as a whole, `command` has the options that all benchmarks share.
"""
