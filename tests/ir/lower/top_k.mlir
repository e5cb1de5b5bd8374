// One or two largest elements are maxima with their first positions, each among the elements that follow the one before in the order.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<40xf32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %0:2 = "adze.top_k"(%x) {k = 2 : i64} : (tensor<40xf32>) -> (tensor<2xf32>, tensor<2xi32>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xi32>
}

// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: tensor.insert_slice {{.*}}[0, 0] [1, 1] [1, 1]
// CHECK: arith.cmpi sgt
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: tensor.insert_slice {{.*}}[1, 0] [1, 1] [1, 1]
// CHECK: tensor.extract {{.*}} : tensor<1x40xf32>
// CHECK-NOT: scatter
