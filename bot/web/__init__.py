"""Everything that Aldis serves: the health page, the control socket, and the pages for administration."""
