// What a body sends on at its end travels while the body computes: the neighbour's block of ring attention.
// RUN: adze opt %s --pass-pipeline='overlap-collectives' | filecheck %s

func.func private @"adze_dist.ppermute.axis-0.mesh-2.perm-0x1x1x0.float32.2d"(tensor<?x?xf32>) -> tensor<?x?xf32>

func.func private @body(%k: tensor<?x?xf32>, %o: tensor<64x64xf32>, %q: tensor<64x64xf32>) -> (tensor<?x?xf32>, tensor<64x64xf32>) {
  %0 = linalg.matmul ins(%q, %q : tensor<64x64xf32>, tensor<64x64xf32>) outs(%o : tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = call @"adze_dist.ppermute.axis-0.mesh-2.perm-0x1x1x0.float32.2d"(%k) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %1, %0 : tensor<?x?xf32>, tensor<64x64xf32>
}

// CHECK-LABEL: func.func private @body
// CHECK-NEXT: %[[TICKET:.*]] = call @"adze_dist.ppermute.axis-0.mesh-2.perm-0x1x1x0.float32.2d.start"(%arg0)
// CHECK-NEXT: linalg.matmul
// CHECK-NEXT: %[[NEXT:.*]] = call @"adze_dist.ppermute.axis-0.mesh-2.perm-0x1x1x0.float32.2d.finish"(%[[TICKET]])
// CHECK-NEXT: return %[[NEXT]]
