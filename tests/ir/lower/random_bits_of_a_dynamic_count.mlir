// Where positions may need more than 32 bits, the high word of the position is the first counter.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%arg0: tensor<2xui32>, %arg1: tensor<?xf32>) -> tensor<?xui32> {
  %0 = "adze.dim"(%arg1) {axis = 0 : i64} : (tensor<?xf32>) -> index
  %1 = "adze.random_bits"(%arg0, %0) {shape = array<i64: -9223372036854775808>, width = 32 : i64} : (tensor<2xui32>, index) -> tensor<?xui32>
  return %1 : tensor<?xui32>
}

// CHECK: [[PLACE:%.+]] = linalg.index 0 : index
// CHECK: [[WIDE:%.+]] = arith.index_cast [[PLACE]] : index to i64
// CHECK: [[UPPER:%.+]] = arith.shrui [[WIDE]], %c32_i64 : i64
// CHECK: [[HIGH:%.+]] = arith.trunci [[UPPER]] : i64 to i32
// CHECK: [[LOW:%.+]] = arith.trunci [[WIDE]] : i64 to i32
// CHECK: arith.addi [[HIGH]], %in : i32
// CHECK: arith.addi [[LOW]], %in_{{[0-9]+}} : i32
