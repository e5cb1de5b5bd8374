// An op that adze does not have is refused.
// RUN: not adze opt %s --pass-pipeline='verify' 2>&1 | filecheck %s

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "adze.sine"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: error: in @f: there is no op 'adze.sine' in the adze dialect
// CHECK-NEXT: at {{.*}}:5
