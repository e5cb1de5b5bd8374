// On CPUs running sums are a kernel: here of four steps along the axis in a vector of 12 elements, from the end.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4}' | filecheck %s

func.func @f(%x: tensor<2x10x3xf32>) -> tensor<2x10x3xf32> {
  %0 = "adze.cumsum"(%x) {axis = 1 : i64, reverse = true} : (tensor<2x10x3xf32>) -> tensor<2x10x3xf32>
  return %0 : tensor<2x10x3xf32>
}

// CHECK: stream.executable private @kernel_running
// CHECK: arith.constant -0.000000e+00 : f32
// CHECK: scf.for
// CHECK: vector.load {{.*}} : memref<2x30xf32>, vector<12xf32>
// CHECK: vector.shuffle {{.*}} [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]
// CHECK: vector.shuffle {{.*}} [6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]
// CHECK: vector.shuffle {{.*}} [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2]
// CHECK: flow.dispatch @kernel_running::@kernel_running{{.*}} : (tensor<2x30xf32>
