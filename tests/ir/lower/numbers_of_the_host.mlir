// On CUDA the host computes the counts of a loop, and integers from them: reading one from the GPU would wait for all its work.
// RUN: adze opt %s --pass-pipeline='lower{target=cuda},canonicalize' | filecheck %s

func.func @f(%x: tensor<20000000xf32>) -> tensor<f32> {
  %0 = "adze.iota"() {axis = 0 : i64, dtype = i32, shape = array<i64: 3>} : () -> tensor<3xi32>
  %1 = "adze.constant"() {dtype = f32, value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %2 = "adze.scan"(%x, %1, %0) {body = @step, carry_count = 1 : i64, constant_count = 1 : i64, length = array<i64: 3>, results = [tensor<f32>], reverse = false} : (tensor<20000000xf32>, tensor<f32>, tensor<3xi32>) -> tensor<f32>
  return %2 : tensor<f32>
}

func.func private @step(%x: tensor<20000000xf32>, %sum: tensor<f32>, %i: tensor<i32>) -> tensor<f32> {
  %0 = "adze.constant"() {dtype = i32, value = dense<5> : tensor<i32>} : () -> tensor<i32>
  %1 = "adze.mul"(%i, %0) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %2 = "adze.dynamic_slice"(%x, %1) {slice_sizes = array<i64: 4000000>} : (tensor<20000000xf32>, tensor<i32>) -> tensor<4000000xf32>
  %3 = "adze.reduce_sum"(%2) {axes = array<i64: 0>} : (tensor<4000000xf32>) -> tensor<f32>
  %4 = "adze.add"(%sum, %3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %4 : tensor<f32>
}

// CHECK-NOT: linalg.index
// CHECK: scf.for [[I:%.+]] =
// CHECK-NOT: tensor.extract %
// CHECK: arith.muli
// CHECK-NOT: tensor.extract %
// CHECK: tensor.extract_slice
