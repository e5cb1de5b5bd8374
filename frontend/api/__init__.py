"""adze: ahead-of-time compilation of differentiable array programs."""
