"""Programs of many ranks: engines that carry their collectives, and the functions that programs import."""
