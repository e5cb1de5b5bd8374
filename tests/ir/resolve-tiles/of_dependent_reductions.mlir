// The sum and the maximum that it depends on may become one kernel: only the last one keeps its tiles.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v3}' --stop-after resolve-tiles --print-after fuse-reductions 2>&1 | filecheck %s

func.func @f(%x: tensor<128x256xf32>) -> tensor<128xf32> {
  %0 = "adze.reduce_max"(%x) {axes = array<i64: 1>} : (tensor<128x256xf32>) -> tensor<128xf32>
  %1 = "adze.broadcast_in_dim"(%0) {dimensions = array<i64: 0>, shape = array<i64: 128, 256>} : (tensor<128xf32>) -> tensor<128x256xf32>
  %2 = "adze.sub"(%x, %1) : (tensor<128x256xf32>, tensor<128x256xf32>) -> tensor<128x256xf32>
  %3 = "adze.reduce_sum"(%2) {axes = array<i64: 1>} : (tensor<128x256xf32>) -> tensor<128xf32>
  return %3 : tensor<128xf32>
}

// CHECK: // after fuse-reductions, {{.*}} ms
// CHECK: compilation_info = #
// CHECK: arith.maximumf
// CHECK: compilation_info = #
// CHECK: arith.addf
// CHECK: module
// CHECK: arith.maximumf
// CHECK: compilation_info = #
// CHECK: arith.addf
// CHECK-NOT: compilation_info
