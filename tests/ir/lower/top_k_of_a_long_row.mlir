// On GPUs without kernels of our own: the k largest elements of a row too long to be ranked are the first k positions of its merge sort in falling order.
// RUN: adze opt %s --pass-pipeline='lower{target=vulkan:ampere},canonicalize' | filecheck %s

func.func @f(%arg0: tensor<2049xi32>) -> (tensor<1000xi32>, tensor<1000xi32>) {
  %0:2 = "adze.top_k"(%arg0) {k = 1000 : i64} : (tensor<2049xi32>) -> (tensor<1000xi32>, tensor<1000xi32>)
  return %0#0, %0#1 : tensor<1000xi32>, tensor<1000xi32>
}

// CHECK: arith.xori %in, %c-1_i32 : i32
// CHECK: tensor.pad {{.*}} low[0, 0] high[0, 1]
// CHECK: tensor.expand_shape {{.*}} output_shape [2, 1025]
// CHECK: iree_linalg_ext.scatter
// CHECK: [[RIGHT:%.+]] = arith.cmpi uge, {{.*}}, %c1025 : index
// CHECK: iree_linalg_ext.scatter
// CHECK: tensor.extract_slice {{.*}}[0, 0] [1, 1000] [1, 1]
