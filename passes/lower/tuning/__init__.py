"""Forms, tiles and compile options chosen for speed."""
