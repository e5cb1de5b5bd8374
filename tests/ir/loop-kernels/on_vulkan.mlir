// On Vulkan a barrier orders the workgroup's memory alone: what threads share is there, and results are copied from it at the end.
// RUN: adze opt %s --pass-pipeline='loop-kernels' | filecheck %s

module attributes {adze.hints = {bytes_moved = 0 : i64, data_tiling = false, flops = 0 : i64, is_static = true, largest_work = 0 : i64}, adze.target = "vulkan:lavapipe"} {
  func.func @f(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<5x8xf32>) {
    %0:3 = "adze.scan"(%x, %y) {adze.loop = "kernel: for this test", body = @step, carry_count = 2 : i64, constant_count = 0 : i64, length = array<i64: 5>, results = [tensor<8xf32>, tensor<8xf32>, tensor<5x8xf32>], reverse = false} : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<5x8xf32>)
    return %0#0, %0#1, %0#2 : tensor<8xf32>, tensor<8xf32>, tensor<5x8xf32>
  }
  func.func private @step(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    return %y, %x, %x : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
}

// CHECK: workgroup_size = [32, 1, 1]>
// CHECK: %[[STACK:.*]] = stream.binding.subspan {{.*}} -> memref<5x8xf32>
// CHECK-NOT: llvm.inline_asm
// CHECK: memref.alloc() : memref<8xf32, #gpu.address_space<workgroup>>
// CHECK: memref.alloc() : memref<8xf32, #gpu.address_space<workgroup>>
// CHECK: scf.for {{.*}} to %c5
// CHECK-NOT: memref<8xf32>{{$}}
// CHECK: memref.store {{.*}}, %[[STACK]]
// CHECK-NOT: memref<8xf32>{{$}}
// CHECK: gpu.barrier
// CHECK: memref.store {{.*}} : memref<8xf32>{{$}}
// CHECK: memref.store {{.*}} : memref<8xf32>{{$}}
