// Several keys are one more loop around; each counts its own positions.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%arg0: tensor<3x2xui32>) -> tensor<3x5xui32> {
  %0 = "adze.random_bits"(%arg0) {shape = array<i64: 3, 5>, width = 32 : i64} : (tensor<3x2xui32>) -> tensor<3x5xui32>
  return %0 : tensor<3x5xui32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0)>
// CHECK: tensor.extract_slice %arg0[0, 0] [3, 1] [1, 1]
// CHECK: tensor.extract_slice %arg0[0, 1] [3, 1] [1, 1]
// CHECK: linalg.generic {indexing_maps = [#map, #map, {{.*}}iterator_types = ["parallel", "parallel"]} ins({{.*}} : tensor<3xi32>, tensor<3xi32>) outs({{.*}} : tensor<3x5xi32>)
// CHECK: [[POSITION:%.+]] = linalg.index 1 : index
// CHECK: arith.index_cast [[POSITION]] : index to i32
// CHECK-NOT: linalg.index 0
