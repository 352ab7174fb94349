"""Set-up and administration in a browser: pages on a listener of their own, which is off unless it is asked for.

site        what is served where           guard       who may ask, and what every answer says to the browser
sign_in     links, codes, signing out      sessions    links that open it once
factor      the app that shows codes       audit       what was done, when and by whom
world       Aldis as the pages see it      context     what all pages share
"""
