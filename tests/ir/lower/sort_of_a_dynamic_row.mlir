// On GPUs but CUDA: a row of dynamic size is ranked whole, without tiles: the places in the whole follow from the row's length.
// RUN: adze opt %s --pass-pipeline='lower{target=vulkan:ampere},canonicalize' | filecheck %s

func.func @f(%arg0: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %0 = "adze.sort"(%arg0) {axis = 1 : i64, is_stable = true, num_keys = 1 : i64} : (tensor<?x?xi32>) -> tensor<?x?xi32>
  return %0 : tensor<?x?xi32>
}

// CHECK: [[COUNT:%.+]] = tensor.dim %arg0, %c0
// CHECK: [[SIZE:%.+]] = tensor.dim %arg0, %c1
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]} ins({{.*}}) outs({{.*}} : tensor<?x?xi32>) {
// CHECK: [[LENGTH:%.+]] = arith.index_cast [[SIZE]] : index to i32
// CHECK: [[ROW:%.+]] = arith.muli {{.*}}, [[LENGTH]] : i32
// CHECK: arith.addi %in, [[ROW]] : i32
// CHECK: arith.muli [[COUNT]], [[SIZE]] : index
// CHECK: iree_linalg_ext.scatter dimension_map = [0] unique_indices(true)
// CHECK: tensor.expand_shape {{.*}} output_shape {{\[}}[[COUNT]], [[SIZE]]{{\]}}
