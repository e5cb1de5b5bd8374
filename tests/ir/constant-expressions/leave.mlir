// A function of a counter is computed once, while the program is compiled.
// RUN: adze opt %s --pass-pipeline='constant-expressions' | filecheck %s
// CHECK-NOT: nothing_constant

#map = affine_map<(d0) -> (d0)>
module {
  func.func @roots(%x: tensor<8xf32>) -> tensor<8xf32> {
    %empty = tensor.empty() : tensor<8xf32>
    %0 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%empty : tensor<8xf32>) {
    ^bb0(%out: f32):
      %i = linalg.index 0 : index
      %n = arith.index_cast %i : index to i32
      %f = arith.sitofp %n : i32 to f32
      %r = math.sqrt %f : f32
      linalg.yield %r : f32
    } -> tensor<8xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%0, %x : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %s = arith.mulf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    return %1 : tensor<8xf32>
  }
}
