// A comparison of unsigned integers is unsigned.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<4xui32>, %y: tensor<4xui32>) -> tensor<4xi1> {
  %0 = "adze.compare"(%x, %y) {direction = "LT"} : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// CHECK: arith.cmpi ult, %in, {{.*}} : i32
