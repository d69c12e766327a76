"""What makes the trained weights that come with the program; nothing that answers a question imports it.

    python -m training.router         engine/models/router_base: which database and tables a question is about
    python -m training.routing_folds  no weights: the router on training databases held out of their fold, to choose by
    python -m training.second_look    engine/route/second_look.json: the database by what linking finds there
    python -m training.linker         engine/models/linker_base: which tables and columns a question is about
    python -m training.judgement      engine/judge/weights.json: how likely candidates are right
    python -m training.answers        no weights: what becomes of a strong model's answers, which judgement is fitted on
    python -m training.links          no weights: how well the first statements of these lists link
    python -m training.selection      engine/judge/packaged_scores.json: how high right candidates score

Data comes from folders that are no part of this repository; `training.lists` writes, with the embedded model, what the
last three are about.
engine/models/conditions_base and engine/models/ranker_base, which are off by default, were made by the tree of commit
c187d9c7.
"""
