// On CPUs rows of more than 64 elements are sorted by a kernel; equal sorts share it, and places need no operand of their own.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<3x100xf32>, %y: tensor<3x100xf32>) -> (tensor<3x100xf32>, tensor<3x100xi32>, tensor<3x100xi32>) {
  %places = "adze.iota"() {axis = 1 : i64, dtype = i32, shape = array<i64: 3, 100>} : () -> tensor<3x100xi32>
  %0:2 = "adze.sort"(%x, %places) {axis = 1 : i64, is_stable = true, num_keys = 1 : i64} : (tensor<3x100xf32>, tensor<3x100xi32>) -> (tensor<3x100xf32>, tensor<3x100xi32>)
  %1:2 = "adze.sort"(%y, %places) {axis = 1 : i64, is_stable = true, num_keys = 1 : i64} : (tensor<3x100xf32>, tensor<3x100xi32>) -> (tensor<3x100xf32>, tensor<3x100xi32>)
  return %0#0, %0#1, %1#1 : tensor<3x100xf32>, tensor<3x100xi32>, tensor<3x100xi32>
}

// CHECK: stream.executable private @kernel_sort {
// CHECK: stream.return %c3, %c1, %c1 : index, index, index
// CHECK: hal.interface.workgroup.id[0] : index
// CHECK: vector.store {{.*}} : memref<3x4x256xi32>, vector<8xi32>
// CHECK: arith.bitcast {{.*}} : f32 to i32
// CHECK-NOT: stream.executable
// CHECK: func.func @f(
// CHECK: [[A:%.+]]:5 = flow.dispatch @kernel_sort::@kernel_sort(%arg0, {{.*}} -> (%
// CHECK: [[B:%.+]]:5 = flow.dispatch @kernel_sort::@kernel_sort(%arg1, {{.*}} -> (%
// CHECK-NEXT: return [[A]]#0, [[A]]#4, [[B]]#4
