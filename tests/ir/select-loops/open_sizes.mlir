// Loops whose bodies have sizes that show at the call are kernels on CPUs, and stay on the host elsewhere.
// RUN: adze opt %s --pass-pipeline='plan{target=cpu},select-loops' | filecheck %s
// RUN: adze opt %s --pass-pipeline='plan{target=cuda:sm_80},select-loops' | filecheck %s --check-prefix=CUDA

func.func @f(%y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = "adze.scan"(%y) {body = @open, carry_count = 1 : i64, constant_count = 0 : i64, length = array<i64: 6>, results = [tensor<?xf32>], reverse = false} : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func private @open(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = "adze.reverse"(%x) {axes = array<i64: 0>} : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK: adze.loop = "kernel:
// CUDA: adze.loop = "host: adze.scan has sizes that are known only when it runs"
