"""Setup and administration in a browser: pages on a listener of their own, which is off unless turned on.

site        what is served where, templates                 guard       who can ask: links, sessions, the second factor
forms       pages, forms, fields, actions                   world       Aldis as the pages see it

The pages themselves: overview, account, model, people, tools, upkeep.
"""
