// A sum starts when its operand is there and ends where it is needed; one that is needed at once stays one call.
// RUN: adze opt %s --pass-pipeline='overlap-collectives' | filecheck %s

func.func private @"adze_dist.all_reduce.axis-0.kind-sum.mesh-2.float32.2d"(tensor<?x?xf32>) -> tensor<?x?xf32>

func.func @f(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %z: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<?x?xf32>) {
  %0 = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = linalg.matmul ins(%b, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = tensor.cast %0 : tensor<64x64xf32> to tensor<?x?xf32>
  %3 = call @"adze_dist.all_reduce.axis-0.kind-sum.mesh-2.float32.2d"(%2) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %4 = tensor.cast %3 : tensor<?x?xf32> to tensor<64x64xf32>
  %5 = linalg.matmul ins(%4, %4 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  %6 = tensor.cast %5 : tensor<64x64xf32> to tensor<?x?xf32>
  %7 = call @"adze_dist.all_reduce.axis-0.kind-sum.mesh-2.float32.2d"(%6) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %4, %5, %7 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<?x?xf32>
}

// CHECK-LABEL: func.func @f
// CHECK: %[[A:.*]] = linalg.matmul ins(%arg0, %arg1
// CHECK: %[[UNKNOWN:.*]] = tensor.cast %[[A]]
// CHECK: %[[TICKET:.*]] = call @"adze_dist.all_reduce.axis-0.kind-sum.mesh-2.float32.2d.start"(%[[UNKNOWN]]) : (tensor<?x?xf32>) -> tensor<i64>
// CHECK: %[[B:.*]] = linalg.matmul ins(%arg1, %arg1
// CHECK: %[[SUM:.*]] = call @"adze_dist.all_reduce.axis-0.kind-sum.mesh-2.float32.2d.finish"(%[[TICKET]]) : (tensor<i64>) -> tensor<?x?xf32>
// CHECK: %[[KNOWN:.*]] = tensor.cast %[[SUM]]
// CHECK: linalg.matmul ins(%[[KNOWN]]
// CHECK: call @"adze_dist.all_reduce.axis-0.kind-sum.mesh-2.float32.2d"(
