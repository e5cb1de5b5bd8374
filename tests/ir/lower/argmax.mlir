// The position of a maximum is the smallest one where the element equals the maximum or is NaN.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<4x5xf32>) -> tensor<4xi32> {
  %0 = "adze.argmax"(%x) {axis = 1 : i64, index_dtype = i32} : (tensor<4x5xf32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// CHECK: arith.maximumf
// CHECK: [[MAXIMUM:%.+]] = iree_tensor_ext.compute_barrier.start {{.*}} : tensor<4xf32>
// CHECK: linalg.generic {{.*}}ins(%arg0, [[MAXIMUM]], {{.*}} : tensor<4x5xf32>, tensor<4xf32>, tensor<5xi32>)
// CHECK: [[EQUAL:%.+]] = arith.cmpf oeq
// CHECK: [[NAN:%.+]] = arith.cmpf uno, %in, %in : f32
// CHECK: [[HERE:%.+]] = arith.ori [[EQUAL]], [[NAN]] : i1
// CHECK: arith.select [[HERE]], {{.*}}, %c2147483647_i32 : i32
// CHECK: arith.minsi %out, %in : i32
