// An update of every other row, which is a choice of a padded array, writes these rows alone, in place.
// RUN: adze opt %s --pass-pipeline='loop-kernels' | filecheck %s

module attributes {adze.hints = {bytes_moved = 0 : i64, data_tiling = false, flops = 0 : i64, is_static = true, largest_work = 0 : i64}, adze.target = "cpu"} {
  func.func @f(%x: tensor<9x8xf32>, %i: tensor<5xi32>) -> tensor<9x8xf32> {
    %0 = "adze.scan"(%x, %i) {adze.loop = "kernel: for this test", body = @step, carry_count = 1 : i64, constant_count = 0 : i64, length = array<i64: 5>, results = [tensor<9x8xf32>], reverse = false} : (tensor<9x8xf32>, tensor<5xi32>) -> tensor<9x8xf32>
    return %0 : tensor<9x8xf32>
  }
  func.func private @step(%x: tensor<9x8xf32>, %i: tensor<i32>) -> tensor<9x8xf32> {
    %zero = "adze.constant"() {dtype = f32, value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %even = "adze.slice"(%x) {start = array<i64: 0, 0>, limit = array<i64: 8, 8>, strides = array<i64: 2, 1>} : (tensor<9x8xf32>) -> tensor<4x8xf32>
    %next = "adze.slice"(%x) {start = array<i64: 2, 0>, limit = array<i64: 9, 8>, strides = array<i64: 2, 1>} : (tensor<9x8xf32>) -> tensor<4x8xf32>
    %new = "adze.add"(%even, %next) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %spread = "adze.pad"(%new, %zero) {low = array<i64: 1, 0>, high = array<i64: 1, 0>, interior = array<i64: 1, 0>} : (tensor<4x8xf32>, tensor<f32>) -> tensor<9x8xf32>
    %place = "adze.iota"() {shape = array<i64: 9, 8>, axis = 0 : i64, dtype = i32} : () -> tensor<9x8xi32>
    %one = "adze.constant"() {dtype = i32, value = dense<1> : tensor<i32>} : () -> tensor<i32>
    %two = "adze.constant"() {dtype = i32, value = dense<2> : tensor<i32>} : () -> tensor<i32>
    %ones = "adze.broadcast_in_dim"(%one) {shape = array<i64: 9, 8>, dimensions = array<i64>} : (tensor<i32>) -> tensor<9x8xi32>
    %twos = "adze.broadcast_in_dim"(%two) {shape = array<i64: 9, 8>, dimensions = array<i64>} : (tensor<i32>) -> tensor<9x8xi32>
    %rest = "adze.rem"(%place, %twos) : (tensor<9x8xi32>, tensor<9x8xi32>) -> tensor<9x8xi32>
    %odd = "adze.compare"(%rest, %ones) {direction = "EQ"} : (tensor<9x8xi32>, tensor<9x8xi32>) -> tensor<9x8xi1>
    %0 = "adze.select"(%odd, %spread, %x) : (tensor<9x8xi1>, tensor<9x8xf32>, tensor<9x8xf32>) -> tensor<9x8xf32>
    return %0 : tensor<9x8xf32>
  }
}

// CHECK-LABEL: stream.executable private @kernel_loop
// CHECK: %[[RESULT:.*]] = stream.binding.subspan %arg2
// CHECK-NOT: memref.alloca
// CHECK: scf.for {{.*}} to %c5
// CHECK-NEXT: scf.for {{.*}} to %c4
// CHECK: scf.for {{.*}} to %c8
// CHECK-NEXT: memref.load %[[RESULT]]
// CHECK-NEXT: memref.load %[[RESULT]]
// CHECK-NEXT: arith.addf
// CHECK-NEXT: memref.store {{.*}}, %[[RESULT]]
// CHECK-NOT: scf.for
// CHECK: return
