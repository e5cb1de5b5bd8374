// Squared distances of points: an elementwise op of the three coordinates, each of which lies by itself.
// RUN: adze opt %s --pass-pipeline='lower' --stop-after fuse-reductions | filecheck %s

func.func @f(%x: tensor<300x3xf32>, %y: tensor<200x3xf32>) -> tensor<300x200xf32> {
  %0 = "adze.broadcast_in_dim"(%x) {shape = array<i64: 300, 200, 3>, dimensions = array<i64: 0, 2>} : (tensor<300x3xf32>) -> tensor<300x200x3xf32>
  %1 = "adze.broadcast_in_dim"(%y) {shape = array<i64: 300, 200, 3>, dimensions = array<i64: 1, 2>} : (tensor<200x3xf32>) -> tensor<300x200x3xf32>
  %2 = "adze.sub"(%0, %1) : (tensor<300x200x3xf32>, tensor<300x200x3xf32>) -> tensor<300x200x3xf32>
  %3 = "adze.mul"(%2, %2) : (tensor<300x200x3xf32>, tensor<300x200x3xf32>) -> tensor<300x200x3xf32>
  %4 = "adze.reduce_sum"(%3) {axes = array<i64: 2>} : (tensor<300x200x3xf32>) -> tensor<300x200xf32>
  return %4 : tensor<300x200xf32>
}

// CHECK-LABEL: func.func @f(
// CHECK-NOT: "reduction"
// CHECK: tensor.extract_slice %{{.*}}[2, 0] [1, 300] [1, 1]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} :
// CHECK-NOT: "reduction"
