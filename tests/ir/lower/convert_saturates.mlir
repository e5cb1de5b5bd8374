// A conversion to a narrower integer saturates, and NaN becomes zero.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<4xf32>) -> tensor<4xi8> {
  %0 = "adze.convert"(%x) {dtype = i8} : (tensor<4xf32>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// CHECK: [[LOW:%.+]] = arith.cmpf oge, %in, {{.*}} : f32
// CHECK: [[ABOVE:%.+]] = arith.select [[LOW]], %in, {{.*}} : f32
// CHECK: [[HIGH:%.+]] = arith.cmpf ole, [[ABOVE]], {{.*}} : f32
// CHECK: [[CLAMPED:%.+]] = arith.select [[HIGH]], [[ABOVE]], {{.*}} : f32
// CHECK: [[WIDE:%.+]] = arith.fptosi [[CLAMPED]] : f32 to i32
// CHECK: [[NAN:%.+]] = arith.cmpf {{uno|une}}, %in, %in : f32
// CHECK: [[NUMBER:%.+]] = arith.select [[NAN]], %c0_i32, [[WIDE]] : i32
// CHECK: arith.trunci [[NUMBER]] : i32 to i8
