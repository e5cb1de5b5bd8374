// A product reads transposed operands where they are, through its indexing maps.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<7x5xf32>, %y: tensor<6x7xf32>) -> tensor<5x6xf32> {
  %0 = "adze.dot_general"(%x, %y) {batch = [array<i64>, array<i64>], contracting = [array<i64: 0>, array<i64: 1>], dtype = f32} : (tensor<7x5xf32>, tensor<6x7xf32>) -> tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK: linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<7x5xf32>, tensor<6x7xf32>)
