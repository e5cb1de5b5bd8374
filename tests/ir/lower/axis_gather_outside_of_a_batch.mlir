// Outside of a batch the elements of a named axis are copies of the operand.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<4xf32>, %i: tensor<i32>) -> tensor<8x4xf32> {
  %0 = "adze.axis_gather"(%x, %i) {axis_name = "batch", length = array<i64: 8>} : (tensor<4xf32>, tensor<i32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d1)>
// CHECK: linalg.generic {{.*}}ins(%arg0 : tensor<4xf32>) outs({{.*}} : tensor<8x4xf32>)
