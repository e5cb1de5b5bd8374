// An array of bools is bytes in the memory of a kernel: it is loaded as i8 and stored extended.
// RUN: adze opt %s --pass-pipeline='loop-kernels' | filecheck %s

module attributes {adze.hints = {bytes_moved = 0 : i64, data_tiling = false, flops = 0 : i64, is_static = true, largest_work = 0 : i64}, adze.target = "cpu"} {
  func.func @f(%x: tensor<8xi1>) -> tensor<8xi1> {
    %0 = "adze.scan"(%x) {adze.loop = "kernel: for this test", body = @step, carry_count = 1 : i64, constant_count = 0 : i64, length = array<i64: 6>, results = [tensor<8xi1>], reverse = false} : (tensor<8xi1>) -> tensor<8xi1>
    return %0 : tensor<8xi1>
  }
  func.func private @step(%x: tensor<8xi1>) -> tensor<8xi1> {
    %0 = "adze.not"(%x) : (tensor<8xi1>) -> tensor<8xi1>
    return %0 : tensor<8xi1>
  }
}

// CHECK-NOT: memref<8xi1
// CHECK: memref.load {{.*}} : memref<8xi8>
// CHECK: arith.trunci {{.*}} : i8 to i1
// CHECK: arith.extui {{.*}} : i1 to i8
// CHECK: memref.store {{.*}} : memref<8xi8>
// CHECK-NOT: memref<8xi1
// CHECK: flow.dispatch {{.*}} : (tensor<8xi1>, tensor<8xi1>) -> %{{.*}}
