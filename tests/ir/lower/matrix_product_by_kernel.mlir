// A product that repays it is a kernel of our own: the right operand is packed into panels, and tiles stay in registers.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v3},canonicalize' | filecheck %s

func.func @f(%x: tensor<65x128xf32>, %y: tensor<128x250xf32>) -> tensor<65x250xf32> {
  %0 = "adze.dot_general"(%x, %y) {contracting = [array<i64: 1>, array<i64: 0>], batch = [array<i64>, array<i64>], dtype = f32} : (tensor<65x128xf32>, tensor<128x250xf32>) -> tensor<65x250xf32>
  return %0 : tensor<65x250xf32>
}

// CHECK: func.func @kernel_product(
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %{{.+}}:12 = scf.for {{.*}} step %c4 iter_args(
// CHECK: vector.load {{.*}} : memref<1x16x128x16xf32>, vector<8xf32>
// CHECK: [[X:%.+]] = memref.load {{.*}} : memref<1x65x128xf32>
// CHECK: vector.broadcast [[X]] : f32 to vector<8xf32>
// CHECK: arith.mulf {{.*}} fastmath<contract> : vector<8xf32>
// CHECK: func.func @f(
// CHECK: [[PANELS:%.+]] = flow.dispatch @kernel_pack::@kernel_pack({{.*}} : (tensor<1x128x250xf32>, tensor<1x16x128x16xf32>)
// CHECK: flow.dispatch @kernel_product::@kernel_product({{.*}}, [[PANELS]], {{.*}} : (tensor<1x65x128xf32>, tensor<1x16x128x16xf32>, tensor<1x65x250xf32>)
