// Nothing uses the rows that the scan stacks, nor the second value that it carries: both go, with their operands.
// RUN: adze opt %s --pass-pipeline='drop-dead-results' | filecheck %s

func.func @f(%x: tensor<f64>, %xs: tensor<5xf64>, %ys: tensor<5xf64>) -> tensor<f64> {
  %0:3 = "adze.scan"(%x, %x, %xs, %ys) {body = @step, carry_count = 2, constant_count = 0, length = array<i64: 5>, results = [tensor<f64>, tensor<f64>, tensor<5xf64>], reverse = false} : (tensor<f64>, tensor<f64>, tensor<5xf64>, tensor<5xf64>) -> (tensor<f64>, tensor<f64>, tensor<5xf64>)
  return %0#0 : tensor<f64>
}

func.func private @step(%a: tensor<f64>, %b: tensor<f64>, %u: tensor<f64>, %v: tensor<f64>) -> (tensor<f64>, tensor<f64>, tensor<f64>) {
  %0 = "adze.mul"(%a, %u) : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %1 = "adze.add"(%b, %v) : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %2 = "adze.sin"(%b) : (tensor<f64>) -> tensor<f64>
  return %0, %1, %2 : tensor<f64>, tensor<f64>, tensor<f64>
}

// CHECK-LABEL: func.func @f(%arg0: tensor<f64>, %arg1: tensor<5xf64>, %arg2: tensor<5xf64>) -> tensor<f64> {
// CHECK-NEXT: %0 = "adze.scan"(%arg0, %arg1)
// CHECK-NEXT: return %0 : tensor<f64>
// CHECK-LABEL: func.func private @step_1(%arg0: tensor<f64>, %arg1: tensor<f64>) -> tensor<f64> {
// CHECK-NEXT: %0 = "adze.mul"(%arg0, %arg1)
// CHECK-NEXT: return %0 : tensor<f64>
// CHECK-NOT: func.func
