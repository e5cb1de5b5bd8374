"""What each op of ONNX computes, one file a family; `..table` lists them all."""
