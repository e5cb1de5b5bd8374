// A transcendental function is a call of a scalar function, which the module has once.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "adze.sin"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: linalg.generic
// CHECK: func.call @scalar.sin.float32(%in) : (f32) -> f32
// CHECK: func.func private @scalar.sin.float32(%arg0: f32) -> f32
