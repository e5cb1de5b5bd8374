// Counters that are compared and a small array that is stated are left to the calls.
// RUN: adze opt %s --pass-pipeline='constant-expressions' | filecheck %s
// CHECK: module attributes {adze.nothing_constant}

#map = affine_map<(d0) -> (d0)>
module {
  func.func @masked(%x: tensor<8xf32>) -> tensor<8xf32> {
    %table = arith.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>
    %mask = tensor.empty() : tensor<8xi1>
    %0 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%mask : tensor<8xi1>) {
    ^bb0(%out: i1):
      %i = linalg.index 0 : index
      %c3 = arith.constant 3 : index
      %is = arith.cmpi ult, %i, %c3 : index
      linalg.yield %is : i1
    } -> tensor<8xi1>
    %empty = tensor.empty() : tensor<8xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel"]} ins(%0, %x, %table : tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
    ^bb0(%is: i1, %a: f32, %b: f32, %out: f32):
      %s = arith.select %is, %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    return %1 : tensor<8xf32>
  }
}
