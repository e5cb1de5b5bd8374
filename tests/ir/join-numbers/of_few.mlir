// Three sines, sines of several dtypes, of arrays, and cheap functions stay as they are.
// RUN: adze opt %s --pass-pipeline='plan{target=cpu},join-numbers' | filecheck %s

func.func @f(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f64>, %x: tensor<4xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f64>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %0 = "adze.sin"(%a) : (tensor<f32>) -> tensor<f32>
  %1 = "adze.sin"(%b) : (tensor<f32>) -> tensor<f32>
  %2 = "adze.sin"(%c) : (tensor<f32>) -> tensor<f32>
  %3 = "adze.sin"(%d) : (tensor<f64>) -> tensor<f64>
  %4 = "adze.sin"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %5 = "adze.sqrt"(%0) : (tensor<f32>) -> tensor<f32>
  %6 = "adze.sqrt"(%1) : (tensor<f32>) -> tensor<f32>
  %7 = "adze.sqrt"(%2) : (tensor<f32>) -> tensor<f32>
  %8 = "adze.sqrt"(%a) : (tensor<f32>) -> tensor<f32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f64>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// CHECK-NOT: adze.concatenate
