// The transpose of taking a part is putting it among zeros.
// RUN: adze opt %s --pass-pipeline='transpose{function=f}' | filecheck %s

func.func @f(%x: tensor<7xf32>) -> tensor<3xf32> {
  %0 = "adze.slice"(%x) {limit = array<i64: 6>, start = array<i64: 1>, strides = array<i64: 2>} : (tensor<7xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func.func @f_transpose(%arg0: tensor<3xf32>) -> tensor<7xf32> {
// CHECK-NEXT: %0 = "adze.constant"() {dtype = f32, value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
// CHECK-NEXT: %1 = "adze.pad"(%arg0, %0) {high = array<i64: 1>, interior = array<i64: 1>, low = array<i64: 1>} : (tensor<3xf32>, tensor<f32>) -> tensor<7xf32>
// CHECK-NEXT: return %1 : tensor<7xf32>
