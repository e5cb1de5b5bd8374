// The least of unsigned integers of 64 bits is the least of signed ones with the sign bit flipped; that of signed ones stays.
// RUN: adze opt %s --pass-pipeline='plan{target=cuda:sm_80},started-reductions' | filecheck %s

#rows = affine_map<(d0, d1) -> (d0, d1)>
#kept = affine_map<(d0, d1) -> (d0)>
func.func @of_unsigned(%x: tensor<4x8xi64>) -> tensor<4xi64> {
  %most = arith.constant 9223372036854775807 : i64
  %empty = tensor.empty() : tensor<4xi64>
  %start = linalg.fill ins(%most : i64) outs(%empty : tensor<4xi64>) -> tensor<4xi64>
  %0 = linalg.generic {indexing_maps = [#rows, #kept], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xi64>) outs(%start : tensor<4xi64>) {
  ^bb0(%in: i64, %out: i64):
    %1 = arith.minui %out, %in : i64
    linalg.yield %1 : i64
  } -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

func.func @of_signed(%x: tensor<4x8xi64>) -> tensor<4xi64> {
  %most = arith.constant 9223372036854775807 : i64
  %empty = tensor.empty() : tensor<4xi64>
  %start = linalg.fill ins(%most : i64) outs(%empty : tensor<4xi64>) -> tensor<4xi64>
  %0 = linalg.generic {indexing_maps = [#rows, #kept], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xi64>) outs(%start : tensor<4xi64>) {
  ^bb0(%in: i64, %out: i64):
    %1 = arith.minsi %out, %in : i64
    linalg.yield %1 : i64
  } -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// CHECK: func.func @of_unsigned
// CHECK: %[[ELEMENT:.*]] = arith.xori %in, %c-9223372036854775808_i64
// CHECK: arith.minsi %[[ELEMENT]], %out
// CHECK: arith.xori %in, %c-9223372036854775808_i64
// CHECK: func.func @of_signed
// CHECK-NOT: xori
// CHECK: arith.minsi %out, %in
// CHECK-NOT: xori
