// A product of bfloat16 is data-tiled too: operands stay narrow in memory, are widened in the loop, and the sum is float32.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%arg0: tensor<64x128xbf16>, %arg1: tensor<128x256xbf16>) -> tensor<64x256xbf16> {
  %0 = "adze.dot_general"(%arg0, %arg1) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = bf16} : (tensor<64x128xbf16>, tensor<128x256xbf16>) -> tensor<64x256xbf16>
  return %0 : tensor<64x256xbf16>
}

// CHECK: module attributes {adze.hints = {{{.*}}data_tiling = true
// CHECK: linalg.generic {{.*}}ins(%arg0, %arg1 : tensor<64x128xbf16>, tensor<128x256xbf16>) outs({{.*}} : tensor<64x256xf32>) {
// CHECK: [[X:%.+]] = arith.extf {{.*}} : bf16 to f32
// CHECK: [[Y:%.+]] = arith.extf {{.*}} : bf16 to f32
// CHECK: [[PRODUCT:%.+]] = arith.mulf [[X]], [[Y]] : f32
// CHECK: arith.addf %out, [[PRODUCT]] : f32
