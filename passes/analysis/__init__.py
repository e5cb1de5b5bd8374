"""What is read off a module without changing what it means: verification, cost, values, NaN checks."""
