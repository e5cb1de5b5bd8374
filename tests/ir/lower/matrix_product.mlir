// A small matrix product is a generic of three loops with register tiles.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<32x64xf32>, %y: tensor<64x64xf32>) -> tensor<32x64xf32> {
  %0 = "adze.dot_general"(%x, %y) {contracting = [array<i64: 1>, array<i64: 0>], batch = [array<i64>, array<i64>], dtype = f32} : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
  return %0 : tensor<32x64xf32>
}

// CHECK: #config = #iree_cpu.lowering_config<distribution = [32, 64, 0], vector_common_parallel = [8, 32, 0], vector_reduction = [0, 0, 1]>
// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK: #compilation = #iree_codegen.compilation_info<lowering_config = #config, translation_info = #translation>
// CHECK: %2 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<32x64xf32>, tensor<64x64xf32>) outs(%1 : tensor<32x64xf32>) attrs =  {compilation_info = #compilation} {
// CHECK: %3 = arith.mulf %in, %in_0 : f32
// CHECK: %4 = arith.addf %out, %3 : f32
