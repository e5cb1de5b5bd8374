// A product of bfloat16 is one of float32 by our kernel: both operands are widened before, and the result is narrowed.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%arg0: tensor<64x128xbf16>, %arg1: tensor<128x256xbf16>) -> tensor<64x256xbf16> {
  %0 = "adze.dot_general"(%arg0, %arg1) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = bf16} : (tensor<64x128xbf16>, tensor<128x256xbf16>) -> tensor<64x256xbf16>
  return %0 : tensor<64x256xbf16>
}

// CHECK: module attributes {adze.hints = {{{.*}}data_tiling = false
// CHECK: func.func @f
// CHECK: arith.extf {{.*}} : bf16 to f32
// CHECK: arith.extf {{.*}} : bf16 to f32
// CHECK: flow.dispatch @kernel_pack
// CHECK: flow.dispatch @kernel_product
// CHECK: arith.bitcast {{.*}} : i16 to bf16
