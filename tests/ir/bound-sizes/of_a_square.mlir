// A square's two sizes, which are checked to be equal, become one value beside a loop.
// RUN: adze opt %s --pass-pipeline='bound-sizes' | filecheck %s

func.func @f(%n: index, %x: tensor<?x?xf64>) -> (tensor<?x?xf64>, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %x, %c0 : tensor<?x?xf64>
  %columns = tensor.dim %x, %c1 : tensor<?x?xf64>
  %same = arith.cmpi eq, %rows, %columns : index
  cf.assert %same, "differ"
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%carry = %x) -> (tensor<?x?xf64>) {
    scf.yield %carry : tensor<?x?xf64>
  }
  return %0, %columns : tensor<?x?xf64>, index
}

// CHECK-LABEL: func.func @f(
// CHECK: %[[ROWS:.*]] = tensor.dim %arg1, %c0
// CHECK: %[[COLUMNS:.*]] = tensor.dim %arg1, %c1
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[ROWS]], %[[COLUMNS]]
// CHECK: cf.assert %[[SAME]], "differ"
// CHECK: %[[N:.*]] = util.assume.int %[[ROWS]]<umin = 0, umax = 67108864> : index
// CHECK-NOT: util.assume.int
// CHECK: flow.tensor.tie_shape %arg1 : tensor<?x?xf64>{%[[N]], %[[N]]}
// CHECK-NOT: "differ"
