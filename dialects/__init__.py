"""What an op of adze is: its declaration, its rules, its text. Imports nothing of the rest of adze."""
