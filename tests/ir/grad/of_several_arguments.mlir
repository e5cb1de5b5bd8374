// One gradient for each of argnums; that of an argument without effect is zero.
// RUN: adze opt %s --pass-pipeline='grad{function=f argnums=0,1,2}' | filecheck %s

func.func @f(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>) -> tensor<f32> {
  %0 = "adze.mul"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @f_grad(%arg0: tensor<f32>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
// CHECK-NEXT: %0 = "adze.constant"() {dtype = f32, value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
// CHECK-NEXT: return %arg1, %arg0, %0 : tensor<f32>, tensor<f32>, tensor<f32>
