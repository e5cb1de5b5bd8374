// Every attribute must be stated.
// RUN: not adze opt %s --pass-pipeline='verify' 2>&1 | filecheck %s

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "adze.reverse"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: error: in @f: op 'adze.reverse' lacks its attribute 'axes'
// CHECK-NEXT: at {{.*}}:5
