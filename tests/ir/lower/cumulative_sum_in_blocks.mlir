// A long cumulative sum scans blocks side by side, then adds to each the sum of those before it.
// RUN: adze opt %s --pass-pipeline='lower{target=vulkan:ampere},canonicalize' | filecheck %s

func.func @f(%x: tensor<8192xf32>) -> tensor<8192xf32> {
  %0 = "adze.cumsum"(%x) {axis = 0 : i64, reverse = false} : (tensor<8192xf32>) -> tensor<8192xf32>
  return %0 : tensor<8192xf32>
}

// CHECK: tensor.expand_shape %arg0 {{.*}} output_shape [1, 128, 64]
// CHECK: iree_linalg_ext.scan {{.*}} ins({{.*}} : tensor<64x128xf32>)
// CHECK: tensor.extract_slice {{.*}}[63, 0, 0] [1, 1, 128] [1, 1, 1]
// CHECK: iree_linalg_ext.scan
// CHECK: tensor.pad {{.*}} low[0, 1] high[0, 0]
// CHECK: arith.addf
