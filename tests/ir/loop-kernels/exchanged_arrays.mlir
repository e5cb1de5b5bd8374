// Two carried arrays that change places: one goes through a copy, on the stack of the kernel.
// RUN: adze opt %s --pass-pipeline='loop-kernels' | filecheck %s

module attributes {adze.hints = {bytes_moved = 0 : i64, data_tiling = false, flops = 0 : i64, is_static = true, largest_work = 0 : i64}, adze.target = "cpu"} {
  func.func @f(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %0:2 = "adze.scan"(%x, %y) {adze.loop = "kernel: for this test", body = @step, carry_count = 2 : i64, constant_count = 0 : i64, length = array<i64: 5>, results = [tensor<8xf32>, tensor<8xf32>], reverse = false} : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
  }
  func.func private @step(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    return %y, %x : tensor<8xf32>, tensor<8xf32>
  }
}

// CHECK: memref.alloca() alignment = 64 : memref<8xf32>
// CHECK: scf.for {{.*}} to %c5
// CHECK-NOT: iter_args
// CHECK-LABEL: func.func @f
// CHECK: flow.dispatch
