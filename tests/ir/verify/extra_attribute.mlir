// No attribute may be made up.
// RUN: not adze opt %s --pass-pipeline='verify' 2>&1 | filecheck %s

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "adze.neg"(%x) {fast = true} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: error: in @f: op 'adze.neg' has no attribute 'fast'
// CHECK-NEXT: at {{.*}}:5
