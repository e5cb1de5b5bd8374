// Tiles are taken off, and IREE chooses its own.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v3},strip-tiles' --print-after resolve-tiles 2>&1 | filecheck %s

func.func @f(%x: tensor<64x256xf32>) -> tensor<64xf32> {
  %0 = "adze.reduce_sum"(%x) {axes = array<i64: 1>} : (tensor<64x256xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// CHECK: // after resolve-tiles, {{.*}} ms
// CHECK: compilation_info = #
// CHECK: module
// CHECK: arith.addf
// CHECK-NOT: compilation_info
