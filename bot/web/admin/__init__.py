"""Setup and administration in a browser: pages on a listener of their own, which is off unless turned on.

site        what is served where           guard       who can ask, and the headers of every answer
sign_in     links, codes, second factor    sessions    links that open it once
forms       pages, forms, fields, actions  pages       templates and static files
world       Aldis as the pages see it

The pages themselves: overview, account, model, people, tools, usage, upkeep.
"""
