// The bits that all integers have are those that none lacks: a reduction by `or` of inverted ones begins with 0.
// RUN: adze opt %s --pass-pipeline='plan{target=cuda:sm_80},started-reductions' | filecheck %s

#rows = affine_map<(d0, d1) -> (d0, d1)>
#kept = affine_map<(d0, d1) -> (d0)>
func.func @of_bits(%x: tensor<4x?xi32>) -> tensor<4xi32> {
  %all = arith.constant -1 : i32
  %empty = tensor.empty() : tensor<4xi32>
  %start = linalg.fill ins(%all : i32) outs(%empty : tensor<4xi32>) -> tensor<4xi32>
  %0 = linalg.generic {indexing_maps = [#rows, #kept], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x?xi32>) outs(%start : tensor<4xi32>) {
  ^bb0(%in: i32, %out: i32):
    %1 = arith.andi %out, %in : i32
    linalg.yield %1 : i32
  } -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// CHECK: func.func @of_bits
// CHECK: %[[START:.*]] = arith.xori %{{.*}}, %{{.*}} : i32
// CHECK: linalg.fill ins(%[[START]] : i32)
// CHECK: %[[ELEMENT:.*]] = arith.xori %in, %c-1_i32
// CHECK: %[[ALL:.*]] = arith.ori %[[ELEMENT]], %out
// CHECK: linalg.yield %[[ALL]]
// CHECK: arith.xori %in, %c-1_i32
