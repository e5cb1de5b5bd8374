// Two dynamic sizes that may differ are compared when the program runs.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = "adze.add"(%x, %y) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK: %dim = tensor.dim %arg0, %c0 : tensor<?xf32>
// CHECK: %dim_0 = tensor.dim %arg1, %c0 : tensor<?xf32>
// CHECK: %0 = arith.cmpi eq, %dim, %dim_0 : index
// CHECK: cf.assert %0, "adze: sizes of axis 0 differ between operands"
// CHECK: %3 = arith.addf %in, %in_1 : f32
