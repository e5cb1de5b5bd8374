// Checks that follow from the sizes of arguments come first, in their order, with the arithmetic that they need.
// RUN: adze opt %s --pass-pipeline='early-checks' | filecheck %s

#map = affine_map<(d0) -> (d0)>
func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %new = tensor.empty(%n) : tensor<?xf32>
  %a = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%new : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %exp = math.exp %in : f32
    linalg.yield %exp : f32
  } -> tensor<?xf32>
  %m = tensor.dim %y, %c0 : tensor<?xf32>
  %equal = arith.cmpi eq, %n, %m : index
  cf.assert %equal, "the first"
  %b = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%a : tensor<?xf32>) outs(%new : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %exp = math.exp %in : f32
    linalg.yield %exp : f32
  } -> tensor<?xf32>
  %c7 = arith.constant 7 : index
  %less = arith.subi %n, %c7 : index
  %fits = arith.cmpi sle, %less, %m : index
  cf.assert %fits, "the second"
  %e = tensor.extract %b[%c0] : tensor<?xf32>
  %zero = arith.constant 0.0 : f32
  %is_less = arith.cmpf olt, %e, %zero : f32
  cf.assert %is_less, "of what is computed"
  %l = tensor.dim %b, %c0 : tensor<?xf32>
  %of_result = arith.cmpi sle, %l, %c7 : index
  cf.assert %of_result, "of the size of a result"
  %s = tensor.from_elements %e : tensor<f32>
  return %b, %s : tensor<?xf32>, tensor<f32>
}

// CHECK-LABEL: func.func @f
// CHECK-NOT: linalg
// CHECK: cf.assert %{{.*}}, "the first"
// CHECK-NOT: linalg
// CHECK: cf.assert %{{.*}}, "the second"
// CHECK: linalg.generic
// CHECK: linalg.generic
// CHECK: cf.assert %{{.*}}, "of what is computed"
// CHECK: cf.assert %{{.*}}, "of the size of a result"
