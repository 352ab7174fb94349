"""Setup and administration in a browser: pages on a listener of their own, which is off unless turned on.

site        what is served where, the way in, templates     guard       who can ask, the headers of every answer
forms       pages, forms, fields, actions                   sessions    links that open it once, the second factor
world       Aldis as the pages see it

The pages themselves: overview, account, model, people, tools, usage, upkeep.
"""
