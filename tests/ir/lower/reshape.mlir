// A reshape moves nothing.
// RUN: adze opt %s --pass-pipeline='lower,canonicalize' | filecheck %s

func.func @f(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %0 = "adze.reshape"(%x) {shape = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// CHECK-LABEL: func.func @f(%arg0: tensor<2x3xf32>) -> tensor<6xf32> {
// CHECK-NEXT: %collapsed = tensor.collapse_shape %arg0 [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
// CHECK-NEXT: return %collapsed : tensor<6xf32>
