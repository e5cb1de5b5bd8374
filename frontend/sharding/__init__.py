"""One program on many ranks: meshes, specifications of how arrays lie on them, and `shard_map`."""
