// A random word of 64 bits is both words of one Threefry block, the first one high.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%arg0: tensor<2xui32>) -> tensor<5xui64> {
  %0 = "adze.random_bits"(%arg0) {shape = array<i64: 5>, width = 64 : i64} : (tensor<2xui32>) -> tensor<5xui64>
  return %0 : tensor<5xui64>
}

// CHECK: linalg.generic {{.*}}outs({{.*}} : tensor<5xi64>)
// CHECK: [[SECOND:%.+]] = arith.addi {{.*}}, %c5_i32 : i32
// CHECK-NOT: arith.extui [[SECOND]]
// CHECK: [[HIGH:%.+]] = arith.shli {{.*}}, %c32_i64 : i64
// CHECK: [[LOW:%.+]] = arith.extui [[SECOND]] : i32 to i64
// CHECK: arith.ori [[HIGH]], [[LOW]] : i64
