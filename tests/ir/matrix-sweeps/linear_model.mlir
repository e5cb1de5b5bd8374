// The gradient of a linear model's squares is one sweep over the rows; a use of the residuals keeps their op.
// RUN: adze opt %s --pass-pipeline='plan{target=cpu:x86-64-v3},matrix-sweeps' | filecheck %s

func.func @f(%a: tensor<300x200xf64>, %x: tensor<200xf64>, %b: tensor<300xf64>) -> (tensor<200xf64>, tensor<300xf64>) {
  %0 = "adze.dot_general"(%a, %x) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = f64} : (tensor<300x200xf64>, tensor<200xf64>) -> tensor<300xf64>
  %1 = "adze.sub"(%0, %b) : (tensor<300xf64>, tensor<300xf64>) -> tensor<300xf64>
  %2 = "adze.dot_general"(%1, %a) {batch = [array<i64>, array<i64>], contracting = [array<i64: 0>, array<i64: 0>], dtype = f64} : (tensor<300xf64>, tensor<300x200xf64>) -> tensor<200xf64>
  return %2, %1 : tensor<200xf64>, tensor<300xf64>
}

// CHECK: stream.executable private @kernel_swept_rows
// CHECK: arith.subf
// CHECK-LABEL: func.func @f
// CHECK-NOT: adze.dot_general
// CHECK: %[[BOTH:.+]]:2 = flow.dispatch @kernel_swept_rows::@kernel_swept_rows
// CHECK: %[[SUMS:.+]] = "adze.reshape"(%[[BOTH]]#0)
// CHECK: %[[GRADIENT:.+]] = "adze.reduce_sum"(%[[BOTH]]#1)
// CHECK: %[[RESIDUALS:.+]] = "adze.sub"(%[[SUMS]], %{{.+}})
// CHECK: return %[[GRADIENT]], %[[RESIDUALS]]
