"""Pictures that services make."""
