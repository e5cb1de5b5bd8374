"""Functions of functions: derivatives, Jacobians, custom rules, checkpoints, `vmap` and named axes."""
