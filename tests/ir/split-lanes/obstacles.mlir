// Loops stay as they are where rows depend on each other, are too few, or run by themselves already.
// RUN: adze opt %s --pass-pipeline='plan{target=cpu},split-lanes' | filecheck %s

func.func @f(%x: tensor<40x2xf32>, %few: tensor<8x2xf32>, %v: tensor<40xf32>) -> (tensor<40x2xf32>, tensor<8x2xf32>, tensor<40xf32>) {
  %0 = "adze.scan"(%x) {body = @turned, carry_count = 1 : i64, constant_count = 0 : i64, length = array<i64: 6>, results = [tensor<40x2xf32>], reverse = false} : (tensor<40x2xf32>) -> tensor<40x2xf32>
  %1 = "adze.scan"(%few) {body = @doubled, carry_count = 1 : i64, constant_count = 0 : i64, length = array<i64: 6>, results = [tensor<8x2xf32>], reverse = false} : (tensor<8x2xf32>) -> tensor<8x2xf32>
  %2 = "adze.scan"(%v) {body = @alone, carry_count = 1 : i64, constant_count = 0 : i64, length = array<i64: 6>, results = [tensor<40xf32>], reverse = false} : (tensor<40xf32>) -> tensor<40xf32>
  return %0, %1, %2 : tensor<40x2xf32>, tensor<8x2xf32>, tensor<40xf32>
}
func.func private @turned(%x: tensor<40x2xf32>) -> tensor<40x2xf32> {
  %0 = "adze.reverse"(%x) {axes = array<i64: 0>} : (tensor<40x2xf32>) -> tensor<40x2xf32>
  return %0 : tensor<40x2xf32>
}
func.func private @doubled(%x: tensor<8x2xf32>) -> tensor<8x2xf32> {
  %0 = "adze.reverse"(%x) {axes = array<i64: 1>} : (tensor<8x2xf32>) -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}
func.func private @alone(%x: tensor<40xf32>) -> tensor<40xf32> {
  %0 = "adze.add"(%x, %x) : (tensor<40xf32>, tensor<40xf32>) -> tensor<40xf32>
  return %0 : tensor<40xf32>
}

// CHECK-LABEL: func.func @f
// CHECK-NEXT: "adze.scan"(%arg0) {body = @turned,
// CHECK-NEXT: "adze.scan"(%arg1) {body = @doubled,
// CHECK-NEXT: "adze.scan"(%arg2) {body = @alone,
// CHECK-NEXT: return
// CHECK-NOT: columns
