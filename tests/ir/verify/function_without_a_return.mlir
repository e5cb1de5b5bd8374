// A function ends in its return: MLIR takes any op that it does not know for the end.
// RUN: not adze opt %s --pass-pipeline='verify' 2>&1 | filecheck %s

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "adze.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
}

// CHECK: error: @f ends in 'adze.neg', expected 'func.return'
// CHECK-NEXT: at {{.*}}:5
