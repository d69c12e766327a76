"""The routing benchmark: databases and tables found among many, beside baselines, and what that costs.

`systems` are what is compared, `versions` trains the routers that are measured, `catalog` makes up schemas of any
number, `cost` measures time and memory. `folds` holds what is measured on the training databases instead
(`training.routing_folds`): choices are made there.
"""
