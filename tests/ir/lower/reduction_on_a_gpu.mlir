// A reduction on a GPU has no tiles of ours, and a long vector still two stages: one invocation would run too long.
// RUN: adze opt %s --pass-pipeline='lower{target=vulkan:ada},canonicalize' | filecheck %s

func.func @f(%arg0: tensor<32768xf32>) -> tensor<f32> {
  %0 = "adze.reduce_sum"(%arg0) {axes = array<i64: 0>} : (tensor<32768xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK: tensor.expand_shape %arg0 {{.*}} output_shape [16, 2048]
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins({{.*}} : tensor<16x2048xf32>) outs({{.*}} : tensor<16xf32>) {
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction"]} ins({{.*}} : tensor<16xf32>)
// CHECK-NOT: compilation_info
