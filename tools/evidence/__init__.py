"""What speaks for a claim and what against it, judged by tables: pure, and without any model."""
