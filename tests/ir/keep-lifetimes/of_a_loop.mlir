// A function with a loop ends with two more blocks, which nothing repeats; one without stays one block.
// RUN: adze opt %s --pass-pipeline='keep-lifetimes' | filecheck %s

func.func @f(%n: index, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%carry = %x) -> (tensor<4xf32>) {
    scf.yield %carry : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

func.func @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// CHECK-LABEL: func.func @f(
// CHECK: cf.br ^bb1
// CHECK: util.optimization_barrier %false : i1
// CHECK-NEXT: cf.cond_br %{{.*}}, ^bb1, ^bb2
// CHECK: ^bb2:
// CHECK-NEXT: return
// CHECK-LABEL: func.func @g(
// CHECK-NEXT: return
