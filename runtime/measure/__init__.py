"""How long programs take, and how much memory they need."""
