// A pad between elements inserts the array with a stride into an array of padding values.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<3xf32>, %v: tensor<f32>) -> tensor<5xf32> {
  %0 = "adze.pad"(%x, %v) {high = array<i64: 0>, interior = array<i64: 1>, low = array<i64: 0>} : (tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// CHECK: linalg.generic {{.*}}ins(%arg1 : tensor<f32>)
// CHECK: util.optimization_barrier %true : i1
// CHECK: tensor.insert_slice %arg0 into {{.*}}[0] [3] [2] : tensor<3xf32> into tensor<5xf32>
// CHECK-NOT: tensor.pad
