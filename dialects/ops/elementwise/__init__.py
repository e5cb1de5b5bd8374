"""One scalar function applied to each element: arithmetic, comparison, bits, conversion, analysis."""
