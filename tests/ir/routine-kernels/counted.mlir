// How many matrices there are may show at the call: up to 16 workgroups share them, and have scratch each.
// RUN: adze opt %s --pass-pipeline='plan{target=cpu:x86-64-v3},routine-kernels' | filecheck %s

func.func @f(%x: tensor<?x?x20x20xf32>) -> tensor<?x?x20x20xf32> {
  %0 = "adze.routine"(%x) {callee = @callee, kernel = "cholesky", results = [tensor<?x?x20x20xf32>]} : (tensor<?x?x20x20xf32>) -> tensor<?x?x20x20xf32>
  return %0 : tensor<?x?x20x20xf32>
}
func.func private @callee(%x: tensor<?x?x20x20xf32>) -> tensor<?x?x20x20xf32> {
  return %x : tensor<?x?x20x20xf32>
}

// CHECK: stream.executable private @kernel_cholesky
// CHECK: stream.return %arg0, %c1, %c1
// CHECK: memref<?x?x20x20xf32>
// CHECK: memref<?x32x32xf32>
// CHECK-LABEL: func.func @f
// CHECK: %[[B:.*]] = "adze.dim"(%arg0) {axis = 0
// CHECK: %[[C:.*]] = "adze.dim"(%arg0) {axis = 1
// CHECK: %[[N:.*]] = arith.muli %[[B]], %[[C]]
// CHECK: %[[LEAST:.*]] = arith.minsi
// CHECK: flow.dispatch @kernel_cholesky::@kernel_cholesky[%[[LEAST]]]
