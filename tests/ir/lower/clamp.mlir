// A clamp is a maximum and then a minimum, so that the upper bound wins.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%low: tensor<4xf32>, %x: tensor<4xf32>, %high: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "adze.clamp"(%low, %x, %high) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: ^bb0(%in: f32, [[X:%.+]]: f32, [[HIGH:%.+]]: f32, %out: f32):
// CHECK: [[RAISED:%.+]] = arith.maximumf [[X]], %in : f32
// CHECK: arith.minimumf [[RAISED]], [[HIGH]] : f32
