// The body that a loop calls stands in its place; the function is gone.
// RUN: adze opt %s --pass-pipeline='inline-bodies' | filecheck %s

func.func @f(%n: index, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%carry = %x) -> (tensor<4xf32>) {
    %1 = func.call @step(%carry) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

func.func private @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: scf.for
// CHECK-NEXT: arith.addf %arg3, %arg3
// CHECK-NEXT: scf.yield
// CHECK-NOT: @step
