"""ONNX models as functions of adze ops: parsed once, run node by node by the rules of one table."""
