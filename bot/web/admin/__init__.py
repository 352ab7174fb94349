"""Setup and administration in a browser: pages on a listener of their own, which is off unless turned on.

site        what is served where           guard       who can ask, and the headers of every answer
sign_in     links, codes, signing out      sessions    links that open it once
factor      the authenticator app          audit       what was done, when and by whom
world       Aldis as the pages see it      context     what all pages share
"""
