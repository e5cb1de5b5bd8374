// Two dynamic sizes of one array are at most 2^26 each beside a loop, which is checked; elsewhere they stay.
// RUN: adze opt %s --pass-pipeline='bound-sizes' | filecheck %s

func.func @f(%n: index, %x: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%carry = %x) -> (tensor<?x?xf64>) {
    scf.yield %carry : tensor<?x?xf64>
  }
  return %0 : tensor<?x?xf64>
}

func.func @g(%x: tensor<?xf64>) -> tensor<?xf64> {
  return %x : tensor<?xf64>
}

// CHECK-LABEL: func.func @f(
// CHECK: cf.assert %{{.*}}, "adze: a dynamic size is above 67108864, the most for loops over arrays like these"
// CHECK: util.assume.int %{{.*}}<umin = 0, umax = 67108864> : index
// CHECK: flow.tensor.tie_shape %arg1
// CHECK-LABEL: func.func @g(
// CHECK-NEXT: return
