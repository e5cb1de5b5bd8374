// A maximum starts from minus infinity and propagates NaN.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<4x5xf32>) -> tensor<5xf32> {
  %0 = "adze.reduce_max"(%x) {axes = array<i64: 0>} : (tensor<4x5xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d1, d0)>
// CHECK: %cst = arith.constant 0xFF800000 : f32
// CHECK: linalg.fill ins(%cst : f32)
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%arg0 :
// CHECK: arith.maximumf %out, %in : f32
