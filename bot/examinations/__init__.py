"""What the doctor looks at, one module a place: each gives findings; `bot.doctor` puts them together."""
