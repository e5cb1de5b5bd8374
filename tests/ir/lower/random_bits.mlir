// Random bits are twenty rounds of Threefry-2x32 of the key and the position, in one loop.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%key: tensor<2xui32>) -> tensor<5xui32> {
  %0 = "adze.random_bits"(%key) {shape = array<i64: 5>, width = 32 : i64} : (tensor<2xui32>) -> tensor<5xui32>
  return %0 : tensor<5xui32>
}

// CHECK: %c466688986_i32 = arith.constant 466688986 : i32
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel"]} ins({{.*}} : tensor<i32>, tensor<i32>) outs({{.*}} : tensor<5xi32>)
// CHECK: linalg.index 0
// CHECK: [[PARITY:%.+]] = arith.xori %in, {{.*}} : i32
// CHECK: arith.xori [[PARITY]], %c466688986_i32 : i32
// CHECK: arith.shli {{.*}}, %c13_i32
// CHECK: arith.shli {{.*}}, %c15_i32
// CHECK: arith.shli {{.*}}, %c26_i32
// CHECK: arith.shli {{.*}}, %c6_i32
// CHECK: arith.shli {{.*}}, %c17_i32
// CHECK: arith.shli {{.*}}, %c29_i32
// CHECK: arith.shli {{.*}}, %c16_i32
// CHECK: arith.shli {{.*}}, %c24_i32
// CHECK: arith.shli {{.*}}, %c13_i32
// CHECK: arith.shli {{.*}}, %c15_i32
// CHECK: arith.shli {{.*}}, %c26_i32
// CHECK: arith.shli {{.*}}, %c6_i32
// CHECK: arith.shli {{.*}}, %c17_i32
// CHECK: arith.shli {{.*}}, %c29_i32
// CHECK: arith.shli {{.*}}, %c16_i32
// CHECK: arith.shli {{.*}}, %c24_i32
// CHECK: arith.shli {{.*}}, %c13_i32
// CHECK: arith.shli {{.*}}, %c15_i32
// CHECK: arith.shli {{.*}}, %c26_i32
// CHECK: arith.shli {{.*}}, %c6_i32
// CHECK-NOT: arith.shli
// CHECK: linalg.yield
