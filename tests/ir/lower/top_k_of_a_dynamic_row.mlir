// On GPUs but CUDA: the k largest elements of a row of dynamic size are searched for one by one, after a check that there are k.
// RUN: adze opt %s --pass-pipeline='lower{target=vulkan:ampere},canonicalize' | filecheck %s

func.func @f(%arg0: tensor<?xi32>) -> (tensor<3xi32>, tensor<3xi32>) {
  %0:2 = "adze.top_k"(%arg0) {k = 3 : i64} : (tensor<?xi32>) -> (tensor<3xi32>, tensor<3xi32>)
  return %0#0, %0#1 : tensor<3xi32>, tensor<3xi32>
}

// CHECK: [[SIZE:%.+]] = tensor.dim %arg0, %c0
// CHECK: [[ENOUGH:%.+]] = arith.cmpi sge, [[SIZE]], %c3 : index
// CHECK: cf.assert [[ENOUGH]], "adze: top_k of 3 elements from an axis that has fewer"
// CHECK: arith.maxui
// CHECK: arith.minui
// CHECK: iree_tensor_ext.compute_barrier.start
// CHECK: tensor.insert_slice {{.*}}[2, 0] [1, 1] [1, 1]
// CHECK-NOT: iree_linalg_ext.scatter
