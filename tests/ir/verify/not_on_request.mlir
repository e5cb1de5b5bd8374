// With --no-verify a module is not verified.
// RUN: adze opt %s --no-verify | filecheck %s

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "adze.sine"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: %0 = "adze.sine"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
