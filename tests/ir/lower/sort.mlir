// On Vulkan a small sort of floats counts for each element those before it, in integers of the same order, and scatters by rank.
// RUN: adze opt %s --pass-pipeline='lower{target=vulkan:ampere},canonicalize' | filecheck %s

func.func @f(%x: tensor<3x40xf32>) -> tensor<3x40xf32> {
  %0 = "adze.sort"(%x) {axis = 1 : i64, is_stable = true, num_keys = 1 : i64} : (tensor<3x40xf32>) -> tensor<3x40xf32>
  return %0 : tensor<3x40xf32>
}

// CHECK: arith.bitcast {{.*}} : f32 to i32
// CHECK: [[KEYS:%.+]] = iree_tensor_ext.compute_barrier.start {{.*}} : tensor<3x40xi32>
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]} ins([[KEYS]], [[KEYS]], [[PLACES:%.+]], [[PLACES]] :
// CHECK: [[EARLIER:%.+]] = arith.cmpi ult, {{.*}} : i32
// CHECK: arith.cmpi slt, {{.*}} : i32
// CHECK: [[EQUAL:%.+]] = arith.cmpi eq, {{.*}} : i32
// CHECK: arith.andi [[EQUAL]], [[EARLIER]] : i1
// CHECK: iree_linalg_ext.scatter dimension_map = [0] unique_indices(true)
// CHECK: iree_linalg_ext.yield %arg1 : f32
