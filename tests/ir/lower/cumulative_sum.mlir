// A cumulative sum is a scan of linalg_ext along the leading axis, from minus zero, which no sum notices.
// RUN: adze opt %s --pass-pipeline='lower{target=vulkan:ampere},canonicalize' | filecheck %s

func.func @f(%x: tensor<3x10xf32>) -> tensor<3x10xf32> {
  %0 = "adze.cumsum"(%x) {axis = 1 : i64, reverse = false} : (tensor<3x10xf32>) -> tensor<3x10xf32>
  return %0 : tensor<3x10xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d1, d0)>
// CHECK: %cst = arith.constant -0.000000e+00 : f32
// CHECK: linalg.generic {{.*}}ins(%arg0 : tensor<3x10xf32>) outs({{.*}} : tensor<10x3xf32>)
// CHECK: iree_linalg_ext.scan {{.*}} dimension(0) inclusive(true) ins({{.*}} : tensor<10x3xf32>) outs({{.*}} : tensor<10x3xf32>, tensor<3xf32>)
// CHECK: arith.addf
// CHECK: iree_linalg_ext.yield
// CHECK: linalg.generic {{.*}}ins({{.*}} : tensor<10x3xf32>) outs({{.*}} : tensor<3x10xf32>)
