// The body replaces the second entry and never uses it: its next value is chosen over the old one.
// RUN: adze opt %s --pass-pipeline='use-loop-state' | filecheck %s

func.func @f(%go: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = scf.while (%a = %go, %b = %x) : (tensor<i1>, tensor<4xf32>) -> (tensor<i1>, tensor<4xf32>) {
    %flag = tensor.extract %a[] : tensor<i1>
    scf.condition(%flag) %a, %b : tensor<i1>, tensor<4xf32>
  } do {
  ^bb0(%a: tensor<i1>, %b: tensor<4xf32>):
    scf.yield %a, %y : tensor<i1>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}

// CHECK: } do {
// CHECK-NEXT: ^bb0(%arg3: tensor<i1>, %arg4: tensor<4xf32>):
// CHECK: util.optimization_barrier %true : i1
// CHECK: ins(%arg2, %arg4 : tensor<4xf32>, tensor<4xf32>)
// CHECK: arith.select
// CHECK: scf.yield %arg3, %
