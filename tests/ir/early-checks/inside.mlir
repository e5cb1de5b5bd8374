// A check inside of a loop is only reached where the loop has steps, so it stays.
// RUN: adze opt %s --pass-pipeline='early-checks' | filecheck %s

func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<?xf32>) {
    %is_one = arith.cmpi eq, %n, %c1 : index
    cf.assert %is_one, "inside"
    scf.yield %a : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// CHECK: scf.for
// CHECK: cf.assert %{{.*}}, "inside"
// CHECK: scf.yield
