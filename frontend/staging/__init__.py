"""From a traced function to a program that runs: `jit`, its stages, where arrays live, saved programs."""
