// A transpose of a transpose, a reshape of a reshape and a slice of everything undo each other.
// RUN: adze opt %s --pass-pipeline='simplify' | filecheck %s

func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "adze.transpose"(%x) {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = "adze.transpose"(%0) {permutation = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %2 = "adze.reshape"(%1) {shape = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>
  %3 = "adze.reshape"(%2) {shape = array<i64: 2, 3>} : (tensor<6xf32>) -> tensor<2x3xf32>
  %4 = "adze.slice"(%3) {limit = array<i64: 2, 3>, start = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %4 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @f(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT: return %arg0 : tensor<2x3xf32>
