"""One page that shows a program: source, stages, graph, cost, kernels and derivatives."""
