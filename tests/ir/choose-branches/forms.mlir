// A CPU prefers loops that become kernels, and has its own branch by name.
// RUN: adze opt %s --pass-pipeline='plan{target=cpu},choose-branches' | filecheck %s
// RUN: adze opt %s --pass-pipeline='plan{target=cpu},choose-branches{kernels=off}' | filecheck %s --check-prefix=OFF
// RUN: adze opt %s --pass-pipeline='plan{target=vulkan:turing},choose-branches' | filecheck %s --check-prefix=OFF

func.func @loop(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %0 = "adze.loop_preference"() {label = "sines"} : () -> tensor<i32>
  %1 = "adze.cond"(%0, %x) {branches = [@tree, @steps], results = [tensor<6x8xf32>]} : (tensor<i32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  return %1 : tensor<6x8xf32>
}
func.func @sorted(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %0 = "adze.loop_preference"() {label = "sorts"} : () -> tensor<i32>
  %1 = "adze.cond"(%0, %x) {branches = [@tree, @sorts], results = [tensor<6x8xf32>]} : (tensor<i32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  return %1 : tensor<6x8xf32>
}
func.func @platform(%x: tensor<6x8xf32>) -> (tensor<6x8xf32>, tensor<i32>) {
  %0 = "adze.platform_index"() {platforms = "cuda,cpu"} : () -> tensor<i32>
  %1 = "adze.cond"(%0, %x) {branches = [@tree, @outer, @neither], results = [tensor<6x8xf32>]} : (tensor<i32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  return %1, %0 : tensor<6x8xf32>, tensor<i32>
}
func.func private @tree(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %0 = "adze.reverse"(%x) {axes = array<i64: 0>} : (tensor<6x8xf32>) -> tensor<6x8xf32>
  %1 = "adze.tan"(%0) : (tensor<6x8xf32>) -> tensor<6x8xf32>
  return %1 : tensor<6x8xf32>
}
func.func private @outer(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %0 = "adze.platform_index"() {platforms = "cpu"} : () -> tensor<i32>
  %1 = "adze.cond"(%0, %x) {branches = [@steps, @neither], results = [tensor<6x8xf32>]} : (tensor<i32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  %2 = "adze.neg"(%1) : (tensor<6x8xf32>) -> tensor<6x8xf32>
  return %2 : tensor<6x8xf32>
}
func.func private @neither(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %0 = "adze.exp"(%x) : (tensor<6x8xf32>) -> tensor<6x8xf32>
  return %0 : tensor<6x8xf32>
}
func.func private @steps(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %0 = "adze.scan"(%x) {body = @step, carry_count = 0 : i64, constant_count = 0 : i64, length = array<i64: 6>, results = [tensor<6x8xf32>], reverse = false} : (tensor<6x8xf32>) -> tensor<6x8xf32>
  return %0 : tensor<6x8xf32>
}
func.func private @step(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "adze.neg"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @sorts(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %0 = "adze.scan"(%x) {body = @sort, carry_count = 0 : i64, constant_count = 0 : i64, length = array<i64: 6>, results = [tensor<6x8xf32>], reverse = false} : (tensor<6x8xf32>) -> tensor<6x8xf32>
  return %0 : tensor<6x8xf32>
}
func.func private @sort(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "adze.sort"(%x) {axis = 0 : i64, is_stable = true, num_keys = 1 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @loop
// CHECK-NEXT: "adze.scan"(%arg0) {body = @step
// CHECK-LABEL: func.func @sorted
// CHECK-NEXT: "adze.reverse"
// CHECK-NEXT: "adze.tan"
// CHECK-NEXT: return
// CHECK-LABEL: func.func @platform
// CHECK-NEXT: "adze.constant"() {dtype = i32, value = dense<1>
// CHECK-NEXT: "adze.scan"(%arg0) {body = @step
// CHECK-NEXT: "adze.neg"
// CHECK-NEXT: return
// CHECK-NOT: @sort(

// OFF-LABEL: func.func @loop
// OFF-NEXT: "adze.reverse"
// OFF-NEXT: "adze.tan"
