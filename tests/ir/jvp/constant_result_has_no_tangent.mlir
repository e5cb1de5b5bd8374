// A result that does not depend on what moves has no tangent.
// RUN: adze opt %s --pass-pipeline='jvp{function=f argnums=0}' | filecheck %s

func.func @f(%x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<i32>) {
  %0 = "adze.neg"(%x) : (tensor<f32>) -> tensor<f32>
  %1 = "adze.exp"(%y) : (tensor<f32>) -> tensor<f32>
  %2 = "adze.convert"(%x) {dtype = i32} : (tensor<f32>) -> tensor<i32>
  return %0, %1, %2 : tensor<f32>, tensor<f32>, tensor<i32>
}

// CHECK-LABEL: func.func @f_jvp(%arg0: tensor<f32>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<i32>, tensor<f32>) {
// CHECK-NEXT: %0 = "adze.neg"(%arg0) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %1 = "adze.neg"(%arg2) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %2 = "adze.exp"(%arg1) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %3 = "adze.convert"(%arg0) {dtype = i32} : (tensor<f32>) -> tensor<i32>
// CHECK-NEXT: return %0, %2, %3, %1 : tensor<f32>, tensor<f32>, tensor<i32>, tensor<f32>
