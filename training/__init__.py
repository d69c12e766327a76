"""What makes the trained weights that come with the program; nothing that answers a question imports it.

    python -m training.router        engine/models/router_base: which database and tables a question is about
    python -m training.routing_folds no weights: the router on training databases held out of their fold, to choose by
    python -m training.conditions    engine/conditions/base: what a statement has to do, read from the question
    python -m training.ranker        engine/ranking/base: which statement says what the question says
    python -m training.certainty     engine/dialogue/certainty.json: how likely candidates are right
    python -m training.ranker_measures, training.value_thresholds
                                     no weights: what is shipped, on databases that had no say in it (docs/audit.md)

Data comes from folders that are no part of this repository; `training.ranker_lists` writes the ranker's, with the
embedded model. Training on a catalog of one's own is the product's matter
(`pgparley router train`, `engine.routing.training`).
"""
