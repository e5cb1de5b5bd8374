// A right operand that is known is packed into panels when the program is lowered.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v3},canonicalize' | filecheck %s

func.func @f(%x: tensor<65x128xf32>) -> tensor<65x250xf32> {
  %y = "adze.constant"() {dtype = f32, value = dense<2.0> : tensor<128x250xf32>} : () -> tensor<128x250xf32>
  %0 = "adze.dot_general"(%x, %y) {contracting = [array<i64: 1>, array<i64: 0>], batch = [array<i64>, array<i64>], dtype = f32} : (tensor<65x128xf32>, tensor<128x250xf32>) -> tensor<65x250xf32>
  return %0 : tensor<65x250xf32>
}

// CHECK: func.func @f(
// CHECK-NOT: kernel_pack
// CHECK: [[PANELS:%.+]] = arith.constant dense<{{.*}}> : tensor<1x16x128x16xf32>
// CHECK-NOT: kernel_pack
// CHECK: flow.dispatch @kernel_product::@kernel_product({{.*}}, [[PANELS]], {{.*}} : (tensor<1x65x128xf32>, tensor<1x16x128x16xf32>, tensor<1x65x250xf32>)
