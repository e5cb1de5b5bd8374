// The error function of float32 is IREE's own on a CPU; a GPU gets ours, since SPIR-V promises too little.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s --check-prefix=CHECK-CPU
// RUN: adze opt %s --pass-pipeline='lower{target=vulkan:ada},canonicalize' | filecheck %s --check-prefix=CHECK-GPU

func.func @f(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "adze.erf"(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-CPU: math.erf %{{.*}} : f32
// CHECK-CPU-NOT: arith.mulf

// CHECK-GPU: func.call @scalar.erf.float32
// CHECK-GPU: func.func private @scalar.erf.float32
// CHECK-GPU-NOT: math.erf
