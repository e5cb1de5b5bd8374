// A loop of one step that updates an array: the array is copied to the result once, which is updated in place.
// RUN: adze opt %s --pass-pipeline='loop-kernels' | filecheck %s

module attributes {adze.hints = {bytes_moved = 0 : i64, data_tiling = false, flops = 0 : i64, is_static = true, largest_work = 0 : i64}, adze.target = "cpu"} {
  func.func @f(%x: tensor<8000xf32>, %i: tensor<1xi32>) -> tensor<8000xf32> {
    %0 = "adze.scan"(%x, %i) {adze.loop = "kernel: for this test", body = @step, carry_count = 1 : i64, constant_count = 0 : i64, length = array<i64: 1>, results = [tensor<8000xf32>], reverse = false} : (tensor<8000xf32>, tensor<1xi32>) -> tensor<8000xf32>
    return %0 : tensor<8000xf32>
  }
  func.func private @step(%x: tensor<8000xf32>, %i: tensor<i32>) -> tensor<8000xf32> {
    %0 = "adze.dynamic_slice"(%x, %i) {slice_sizes = array<i64: 9>} : (tensor<8000xf32>, tensor<i32>) -> tensor<9xf32>
    %1 = "adze.add"(%0, %0) : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
    %2 = "adze.dynamic_update_slice"(%x, %1, %i) : (tensor<8000xf32>, tensor<9xf32>, tensor<i32>) -> tensor<8000xf32>
    return %2 : tensor<8000xf32>
  }
}

// CHECK-LABEL: stream.executable private @kernel_loop
// CHECK: %[[RESULT:.*]] = stream.binding.subspan %arg2
// CHECK: scf.for %[[AT:.*]] = {{.*}} to %c8000
// CHECK: %[[ELEMENT:.*]] = memref.load
// CHECK: memref.store %[[ELEMENT]], %[[RESULT]][%[[AT]]]
// CHECK-NOT: to %c8000
// CHECK: return
