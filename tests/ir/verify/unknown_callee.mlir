// A call names a function of the module.
// RUN: not adze opt %s --pass-pipeline='verify' 2>&1 | filecheck %s

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "adze.call"(%x) {callee = @g, results = [tensor<4xf32>]} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: error: in @f: op 'adze.call' refers to @g, which does not exist
// CHECK-NEXT: at {{.*}}:5
