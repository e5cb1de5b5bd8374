// Random words of 16 bits are the low bits of both words of a block, mixed.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%arg0: tensor<2xui32>) -> tensor<5xui16> {
  %0 = "adze.random_bits"(%arg0) {shape = array<i64: 5>, width = 16 : i64} : (tensor<2xui32>) -> tensor<5xui16>
  return %0 : tensor<5xui16>
}

// CHECK: linalg.generic {{.*}}outs({{.*}} : tensor<5xi16>)
// CHECK: [[SECOND:%.+]] = arith.addi {{.*}}, %c5_i32 : i32
// CHECK: [[MIXED:%.+]] = arith.xori {{.*}}, [[SECOND]] : i32
// CHECK: [[WORD:%.+]] = arith.trunci [[MIXED]] : i32 to i16
// CHECK: linalg.yield [[WORD]] : i16
