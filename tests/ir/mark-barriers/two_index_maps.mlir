// One op uses a sum through two index maps, as a column and as a row: its lowered result goes behind a barrier.
// RUN: adze opt %s --pass-pipeline='plan{target=cpu:x86-64-v3},mark-barriers' | filecheck %s

func.func @f(%x: tensor<6x8xf32>) -> tensor<6x6xf32> {
  %0 = "adze.reduce_sum"(%x) {axes = array<i64: 1>} : (tensor<6x8xf32>) -> tensor<6xf32>
  %1 = "adze.broadcast_in_dim"(%0) {dimensions = array<i64: 0>, shape = array<i64: 6, 6>} : (tensor<6xf32>) -> tensor<6x6xf32>
  %2 = "adze.broadcast_in_dim"(%0) {dimensions = array<i64: 1>, shape = array<i64: 6, 6>} : (tensor<6xf32>) -> tensor<6x6xf32>
  %3 = "adze.add"(%1, %2) : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
  return %3 : tensor<6x6xf32>
}

// CHECK: "adze.reduce_sum"(%arg0) {adze.barrier, axes = array<i64: 1>}
// CHECK-NOT: adze.barrier
