// A reduction along rows takes a row at a time, one along columns a wide strip of columns.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<512x1024xf32>) -> (tensor<512xf32>, tensor<1024xf32>) {
  %0 = "adze.reduce_sum"(%x) {axes = array<i64: 1>} : (tensor<512x1024xf32>) -> tensor<512xf32>
  %1 = "adze.reduce_max"(%x) {axes = array<i64: 0>} : (tensor<512x1024xf32>) -> tensor<1024xf32>
  return %0, %1 : tensor<512xf32>, tensor<1024xf32>
}

// CHECK: #config = #iree_cpu.lowering_config<distribution = [32, 0], vector_common_parallel = [1, 0], vector_reduction = [0, 1025]>
// CHECK: #config1 = #iree_cpu.lowering_config<distribution = [128, 0], vector_common_parallel = [128, 0], vector_reduction = [0, 1]>
// CHECK: #compilation = #iree_codegen.compilation_info<lowering_config = #config, translation_info = #translation>
// CHECK: #compilation1 = #iree_codegen.compilation_info<lowering_config = #config1, translation_info = #translation>
// CHECK: %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<512x1024xf32>) outs(%1 : tensor<512xf32>) attrs =  {compilation_info = #compilation} {
// CHECK: %5 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<512x1024xf32>) outs(%4 : tensor<1024xf32>) attrs =  {compilation_info = #compilation1} {
