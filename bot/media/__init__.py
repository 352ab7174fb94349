"""What comes with messages besides words: pictures, recordings and files, opened safely and prepared for models."""
