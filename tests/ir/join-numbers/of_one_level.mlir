// Sines of numbers of which none follows from another one are one sine; the last number fills the vector up.
// RUN: adze opt %s --pass-pipeline='plan{target=cpu:x86-64-v3},join-numbers' | filecheck %s
// RUN: adze opt %s --pass-pipeline='plan{target=cpu:x86-64-v3},join-numbers{kernels=off}' | filecheck %s --check-prefix=OFF
// RUN: adze opt %s --pass-pipeline='plan{target=vulkan:lavapipe},join-numbers' | filecheck %s --check-prefix=OFF

func.func @f(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %0 = "adze.sin"(%a) : (tensor<f32>) -> tensor<f32>
  %1 = "adze.add"(%0, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %2 = "adze.sin"(%1) : (tensor<f32>) -> tensor<f32>
  %3 = "adze.sin"(%b) : (tensor<f32>) -> tensor<f32>
  %4 = "adze.sin"(%c) : (tensor<f32>) -> tensor<f32>
  %5 = "adze.mul"(%c, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %6 = "adze.sin"(%5) : (tensor<f32>) -> tensor<f32>
  %7 = "adze.mul"(%5, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %8 = "adze.sin"(%7) : (tensor<f32>) -> tensor<f32>
  %9 = "adze.add"(%2, %3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %10 = "adze.add"(%4, %6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %11 = "adze.add"(%8, %10) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %9, %11 : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func.func @f
// CHECK-NEXT: %[[SQUARE:.*]] = "adze.mul"(%arg2, %arg2)
// CHECK-NEXT: %[[CUBE:.*]] = "adze.mul"(%[[SQUARE]], %arg1)
// CHECK-NEXT: "adze.reshape"(%arg0)
// CHECK-NEXT: "adze.reshape"(%arg1)
// CHECK-NEXT: "adze.reshape"(%arg2)
// CHECK-NEXT: "adze.reshape"(%[[SQUARE]])
// CHECK-NEXT: %[[LAST:.*]] = "adze.reshape"(%[[CUBE]])
// CHECK-NEXT: %[[ALL:.*]] = "adze.concatenate"({{.*}}, %[[LAST]], %[[LAST]], %[[LAST]], %[[LAST]])
// CHECK-NEXT: %[[SINES:.*]] = "adze.sin"(%[[ALL]]) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[PART:.*]] = "adze.slice"(%[[SINES]])
// CHECK-NEXT: %[[FIRST:.*]] = "adze.reshape"(%[[PART]])
// CHECK: %[[SUM:.*]] = "adze.add"(%[[FIRST]], %arg1)
// CHECK-NEXT: "adze.sin"(%[[SUM]]) : (tensor<f32>) -> tensor<f32>
// CHECK-NOT: adze.sin
// OFF-COUNT-6: "adze.sin"({{.*}}) : (tensor<f32>) -> tensor<f32>
// OFF-NOT: adze.concatenate
