// A barrier stands between the loops before it and those behind it.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "adze.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "adze.optimization_barrier"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK: [[NEGATIVE:%.+]] = linalg.generic
// CHECK: arith.negf
// CHECK: iree_tensor_ext.compute_barrier.start [[NEGATIVE]] : tensor<4xf32>
