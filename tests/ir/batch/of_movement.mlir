// Axes move up by one.
// RUN: adze opt %s --pass-pipeline='batch{function=f size=5}' | filecheck %s

func.func @f(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %0 = "adze.transpose"(%x) {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = "adze.reshape"(%0) {shape = array<i64: 6>} : (tensor<3x2xf32>) -> tensor<6xf32>
  return %1 : tensor<6xf32>
}

// CHECK-LABEL: func.func @f_batched(%arg0: tensor<5x2x3xf32>) -> tensor<5x6xf32> {
// CHECK-NEXT: %0 = "adze.transpose"(%arg0) {permutation = array<i64: 0, 2, 1>} : (tensor<5x2x3xf32>) -> tensor<5x3x2xf32>
// CHECK-NEXT: %1 = "adze.reshape"(%0) {shape = array<i64: 5, 6>} : (tensor<5x3x2xf32>) -> tensor<5x6xf32>
// CHECK-NEXT: return %1 : tensor<5x6xf32>
