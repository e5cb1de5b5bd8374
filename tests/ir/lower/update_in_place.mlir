// What is updated is copied first: IREE would write into the argument.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<10xf32>, %u: tensor<4xf32>, %i: tensor<i32>) -> tensor<10xf32> {
  %0 = "adze.dynamic_update_slice"(%x, %u, %i) : (tensor<10xf32>, tensor<4xf32>, tensor<i32>) -> tensor<10xf32>
  return %0 : tensor<10xf32>
}

// CHECK: %0 = util.optimization_barrier %true : i1
// CHECK: %1 = util.optimization_barrier %c0_i32 : i32
// CHECK: arith.select %0, %in, %{{.*}} : f32
// CHECK: %inserted_slice = tensor.insert_slice %arg1 into %{{.*}}[%{{.*}}] [4] [1] : tensor<4xf32> into tensor<10xf32>
