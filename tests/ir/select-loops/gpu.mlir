// On CUDA, Vulkan and Metal times are of a workgroup; on other GPUs every loop stays on the host.
// RUN: adze opt %s --pass-pipeline='plan{target=rocm:gfx942},select-loops' | filecheck %s
// RUN: adze opt %s --pass-pipeline='plan{target=cuda:sm_80},select-loops' | filecheck %s --check-prefix=KERNEL
// RUN: adze opt %s --pass-pipeline='plan{target=vulkan:ampere},select-loops' | filecheck %s --check-prefix=KERNEL
// RUN: adze opt %s --pass-pipeline='plan{target=metal},select-loops' | filecheck %s --check-prefix=KERNEL

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "adze.scan"(%x) {body = @step, carry_count = 1 : i64, constant_count = 0 : i64, length = array<i64: 6>, results = [tensor<4xf32>], reverse = false} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "adze.add"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: adze.loop = "host: there are no kernels of loops for rocm"
// KERNEL: adze.loop = "kernel: a step takes about 30 ns in a kernel, 15 us on the host"
