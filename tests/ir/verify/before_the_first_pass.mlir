// A module that holds an op of adze is verified before the first pass, also where no pass would verify it.
// RUN: not adze opt %s 2>&1 | filecheck %s
// RUN: not adze opt %s --pass-pipeline='canonicalize' 2>&1 | filecheck %s

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "adze.sine"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: error: in @f: there is no op 'adze.sine' in the adze dialect
// CHECK-NEXT: at {{.*}}:6
