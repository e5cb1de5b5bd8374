// What carries a mark is lowered with a barrier; unsigned types are erased, and no op of adze is left.
// RUN: adze opt %s --pass-pipeline='convert' | filecheck %s

module attributes {adze.hints = {bytes_moved = 0 : i64, data_tiling = false, flops = 0 : i64, is_static = true, largest_work = 0 : i64}, adze.target = "cpu"} {
  func.func @f(%x: tensor<6x8xui8>) -> tensor<6xui8> {
    %0 = "adze.reduce_max"(%x) {adze.barrier, axes = array<i64: 1>} : (tensor<6x8xui8>) -> tensor<6xui8>
    return %0 : tensor<6xui8>
  }
}

// CHECK-LABEL: func.func @f(%arg0: tensor<6x8xi8>) -> tensor<6xi8> {
// CHECK: arith.maxui
// CHECK: iree_tensor_ext.compute_barrier.start %2 : tensor<6xi8> -> tensor<6xi8>
// CHECK-NOT: "adze.
