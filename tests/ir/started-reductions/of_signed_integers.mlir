// The least of signed integers is the least of unsigned ones with the sign bit flipped; on CPUs it stays what it is.
// RUN: adze opt %s --pass-pipeline='plan{target=cuda:sm_80},started-reductions' | filecheck %s
// RUN: adze opt %s --pass-pipeline='plan{target=cpu:x86-64-v3},started-reductions' | filecheck %s --check-prefix=CPU

#rows = affine_map<(d0, d1) -> (d0, d1)>
#kept = affine_map<(d0, d1) -> (d0)>
func.func @f(%x: tensor<4x8xi32>) -> tensor<4xi32> {
  %most = arith.constant 2147483647 : i32
  %empty = tensor.empty() : tensor<4xi32>
  %start = linalg.fill ins(%most : i32) outs(%empty : tensor<4xi32>) -> tensor<4xi32>
  %0 = linalg.generic {indexing_maps = [#rows, #kept], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xi32>) outs(%start : tensor<4xi32>) {
  ^bb0(%in: i32, %out: i32):
    %1 = arith.minsi %out, %in : i32
    linalg.yield %1 : i32
  } -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// CHECK: %[[FLIPPED:.*]] = arith.xori %c2147483647_i32, %c-2147483648_i32
// CHECK: %[[START:.*]] = linalg.fill ins(%[[FLIPPED]] : i32)
// CHECK: %[[LEAST:.*]] = linalg.generic {{.*}}"reduction"{{.*}} outs(%[[START]] :
// CHECK: %[[ELEMENT:.*]] = arith.xori %in, %c-2147483648_i32
// CHECK: arith.minui %[[ELEMENT]], %out
// CHECK: %[[RESULT:.*]] = linalg.generic {{.*}} ins(%[[LEAST]] :
// CHECK: arith.xori %in, %c-2147483648_i32
// CHECK: return %[[RESULT]]

// CPU: arith.minsi
// CPU-NOT: xori
