"""What is served here: the health page, the control socket, and the pages for administration."""
