"""What people can have Aldis do with `/name`. `base` is the table, the other modules have the commands of no
feature.
"""
