// On a GPU a large reduction reads its operand from memory: only on a CPU does it compute a cheap one itself.
// RUN: adze opt %s --pass-pipeline='lower{target=vulkan:ada},canonicalize' | filecheck %s

func.func @f(%arg0: tensor<512x1024xf32>) -> tensor<512xf32> {
  %0 = "adze.mul"(%arg0, %arg0) : (tensor<512x1024xf32>, tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %1 = "adze.reduce_sum"(%0) {axes = array<i64: 1>} : (tensor<512x1024xf32>) -> tensor<512xf32>
  return %1 : tensor<512xf32>
}

// CHECK: [[OPERAND:%.+]] = linalg.generic {{.*}}ins(%arg0, {{.*}} : tensor<512x1024xf32>, tensor<512x1024xf32>)
// CHECK: arith.mulf
// CHECK: linalg.generic {{.*}}ins([[OPERAND]] : tensor<512x1024xf32>) outs({{.*}} : tensor<512xf32>)
// CHECK-NOT: arith.mulf
