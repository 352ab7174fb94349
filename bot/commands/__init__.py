"""What people can tell Aldis to do by `/name`. `base` is the table; `chat` is for everybody, `admin` for admins."""
