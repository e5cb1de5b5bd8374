// A shift by the width or more is zero.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %0 = "adze.shift_left"(%x, %y) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// CHECK: [[INSIDE:%.+]] = arith.cmpi ult, {{.*}}, %c32_i32 : i32
// CHECK: [[AMOUNT:%.+]] = arith.select [[INSIDE]], {{.*}}, %c0_i32 : i32
// CHECK: [[SHIFTED:%.+]] = arith.shli %in, [[AMOUNT]] : i32
// CHECK: arith.select [[INSIDE]], [[SHIFTED]], %c0_i32 : i32
