// In a batch a sum over the named axis is a reduction of the batch axis, repeated for each element.
// RUN: adze opt %s --pass-pipeline='batch{function=f size=8},lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<4xf32>, %i: tensor<i32>) -> tensor<4xf32> {
  %0 = "adze.axis_sum"(%x, %i) {axis_name = "batch", length = array<i64: 8>} : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @f_batched(
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<8x4xf32>)
// CHECK: arith.addf %out, %in : f32
// CHECK: linalg.generic {{.*}}ins({{.*}} : tensor<4xf32>) outs({{.*}} : tensor<8x4xf32>)
