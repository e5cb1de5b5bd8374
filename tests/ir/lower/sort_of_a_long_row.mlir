// On GPUs without kernels of our own: a row too long to be ranked is cut into blocks, padded by the greatest key; each is ranked, then halves are merged by binary search.
// RUN: adze opt %s --pass-pipeline='lower{target=vulkan:ampere},canonicalize' | filecheck %s

func.func @f(%arg0: tensor<3x2049xi32>) -> tensor<3x2049xi32> {
  %0 = "adze.sort"(%arg0) {axis = 1 : i64, is_stable = true, num_keys = 1 : i64} : (tensor<3x2049xi32>) -> tensor<3x2049xi32>
  return %0 : tensor<3x2049xi32>
}

// CHECK: [[KEYS:%.+]] = iree_tensor_ext.compute_barrier.start %arg0
// CHECK: [[PADDED:%.+]] = tensor.pad [[KEYS]] low[0, 0] high[0, 1]
// CHECK: tensor.yield %c2147483647_i32
// CHECK: tensor.expand_shape {{.*}} output_shape [6, 1025]
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]} ins({{.*}} : tensor<6x1025xi32>, tensor<6x1025xi32>, tensor<1025xi32>, tensor<1025xi32>)
// CHECK: iree_linalg_ext.scatter
// CHECK: iree_linalg_ext.scatter
// CHECK: tensor.expand_shape {{.*}} output_shape [3, 2050]
// CHECK: [[RIGHT:%.+]] = arith.cmpi uge, {{.*}}, %c1025 : index
// CHECK: arith.select [[RIGHT]], %c0, %c1025 : index
// CHECK: arith.minui {{.*}}, %c1024 : index
// CHECK: [[EQUAL:%.+]] = arith.cmpi eq
// CHECK: arith.andi [[EQUAL]], [[RIGHT]] : i1
// CHECK: iree_linalg_ext.scatter
// CHECK: tensor.extract_slice {{.*}}[0, 0] [3, 2049] [1, 1]
// CHECK: tensor.extract %arg0[
