// Rows by a vector are a kernel of our own: four rows share the loads of the vector, each has two vectors of sums.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v3},canonicalize' | filecheck %s

func.func @f(%x: tensor<150x170xf32>, %y: tensor<170xf32>) -> tensor<150xf32> {
  %0 = "adze.dot_general"(%x, %y) {contracting = [array<i64: 1>, array<i64: 0>], batch = [array<i64>, array<i64>], dtype = f32} : (tensor<150x170xf32>, tensor<170xf32>) -> tensor<150xf32>
  return %0 : tensor<150xf32>
}

// CHECK: func.func @kernel_rows_by_vector(
// CHECK: scf.for {{.*}} step %c4
// CHECK: %{{.+}}:8 = scf.for {{.*}} step %c16 iter_args(
// CHECK: vector.load {{.*}} : memref<1x170xf32>, vector<8xf32>
// CHECK: vector.load {{.*}} : memref<1x150x170xf32>, vector<8xf32>
// CHECK: vector.reduction <add>
// CHECK: func.func @f(
// CHECK: flow.dispatch @kernel_rows_by_vector::@kernel_rows_by_vector({{.*}} : (tensor<1x150x170xf32>, tensor<1x170xf32>, tensor<1x150xf32>)
