// Arrays without a first value are set by a function; who reads them before gets an error.
// RUN: adze opt %s --pass-pipeline='hold-state' | filecheck %s

module attributes {adze.held = [
  {name = "n", type = tensor<i32>, mutable = true, later, initial = dense<0> : tensor<i32>}
]} {
  func.func @init() -> tensor<i32> attributes {adze.holds = "sets", adze.changes = array<i64: 0>} {
    %0 = arith.constant dense<7> : tensor<i32>
    return %0 : tensor<i32>
  }
  func.func @read(%n: tensor<i32>) -> tensor<i32> attributes {adze.holds = "reads", adze.changes = array<i64>} {
    return %n : tensor<i32>
  }
}

// CHECK: util.global private mutable @adze.ready = false
// CHECK: func.func @init() {
// CHECK-NEXT: %[[N:.*]] = call @init.held() : () -> tensor<i32>
// CHECK-NEXT: util.global.store %[[N]], @adze.held.0
// CHECK-NEXT: %[[TRUE:.*]] = arith.constant true
// CHECK-NEXT: util.global.store %[[TRUE]], @adze.ready : i1
// CHECK: func.func @read() -> tensor<i32> {
// CHECK-NEXT: %[[READY:.*]] = util.global.load @adze.ready : i1
// CHECK-NEXT: cf.assert %[[READY]], "adze: the arrays of the program have no values yet
