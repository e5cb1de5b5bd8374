"""NumPy programs written without adze in mind, and the tests that trace them unchanged."""
