// A cumulative op from the end is one from the start between two reversals, the second behind a barrier.
// RUN: adze opt %s --pass-pipeline='lower{target=vulkan:ampere},canonicalize' | filecheck %s

func.func @f(%x: tensor<10xf32>) -> tensor<10xf32> {
  %0 = "adze.cummax"(%x) {axis = 0 : i64, reverse = true} : (tensor<10xf32>) -> tensor<10xf32>
  return %0 : tensor<10xf32>
}

// CHECK: %cst = arith.constant 0xFF800000 : f32
// CHECK: %c9 = arith.constant 9 : index
// CHECK: arith.subi %c9, {{.*}} : index
// CHECK: tensor.extract %arg0
// CHECK: iree_linalg_ext.scan {{.*}} dimension(0) inclusive(true)
// CHECK: arith.maximumf
// CHECK: [[RUNNING:%.+]] = iree_tensor_ext.compute_barrier.start {{.*}} : tensor<10xf32>
// CHECK: arith.subi %c9, {{.*}} : index
// CHECK: tensor.extract [[RUNNING]]
