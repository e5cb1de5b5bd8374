// On Vulkan, where k is a large part of a row, its elements are ranked in falling order, by the complement of their keys, and the first k positions taken.
// RUN: adze opt %s --pass-pipeline='lower{target=vulkan:ampere},canonicalize' | filecheck %s

func.func @f(%arg0: tensor<40xi32>) -> (tensor<20xi32>, tensor<20xi32>) {
  %0:2 = "adze.top_k"(%arg0) {k = 20 : i64} : (tensor<40xi32>) -> (tensor<20xi32>, tensor<20xi32>)
  return %0#0, %0#1 : tensor<20xi32>, tensor<20xi32>
}

// CHECK: arith.xori %in, %c-1_i32 : i32
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK: [[ORDER:%.+]] = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true)
// CHECK: [[FIRST:%.+]] = tensor.extract_slice {{.*}}[0, 0] [1, 20] [1, 1]
// CHECK: linalg.generic {{.*}}ins([[FIRST]] : tensor<1x20xi32>)
// CHECK: tensor.extract {{.*}} : tensor<1x40xi32>
