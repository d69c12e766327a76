"""The routing benchmark: databases and tables found among many, beside baselines, and what that costs.

`collection` reads schemas and questions and scores rankings, `systems` are what is compared, `versions` trains the
routers that are measured, `catalog` makes up schemas of any number, `cost` measures time and memory, `report` writes
the results. `looks` logs every look at the development questions; `folds` holds what is measured on the training
databases instead (`training.routing_folds`).
"""
