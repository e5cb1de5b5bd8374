// A broadcast is a generic that reads its operand again along the new axis.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = "adze.broadcast_in_dim"(%x) {dimensions = array<i64: 1>, shape = array<i64: 2, 3>} : (tensor<3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d1)>
// CHECK: linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<3xf32>) outs({{.*}} : tensor<2x3xf32>)
