// A vector by a matrix is a kernel of our own that scans a few rows of the matrix at once; sums are kept in memory.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v3},canonicalize' | filecheck %s

func.func @f(%x: tensor<100xf64>, %y: tensor<100x700xf64>) -> tensor<700xf64> {
  %0 = "adze.dot_general"(%x, %y) {contracting = [array<i64: 0>, array<i64: 0>], batch = [array<i64>, array<i64>], dtype = f64} : (tensor<100xf64>, tensor<100x700xf64>) -> tensor<700xf64>
  return %0 : tensor<700xf64>
}

// CHECK: func.func @kernel_product(
// CHECK: scf.for {{.*}} step %c8
// CHECK: scf.if
// CHECK: vector.load {{.*}} : memref<1x1x700xf64>, vector<4xf64>
// CHECK: vector.load {{.*}} : memref<1x100x700xf64>, vector<4xf64>
// CHECK: func.func @f(
// CHECK-NOT: kernel_pack
// CHECK: flow.dispatch @kernel_product::@kernel_product({{.*}} : (tensor<1x1x100xf64>, tensor<1x100x700xf64>, tensor<1x1x700xf64>)
