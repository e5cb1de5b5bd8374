// On CPUs a few greatest elements of a long row are kept in order by insertion, in one kernel.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<1000xf32>) -> (tensor<3xf32>, tensor<3xi32>) {
  %0:2 = "adze.top_k"(%x) {k = 3 : i64} : (tensor<1000xf32>) -> (tensor<3xf32>, tensor<3xi32>)
  return %0#0, %0#1 : tensor<3xf32>, tensor<3xi32>
}

// CHECK: stream.executable private @kernel_select {
// CHECK: scf.while
// CHECK: flow.dispatch @kernel_select::@kernel_select({{.*}}) : (tensor<1x1000xf32>, tensor<1x3xf32>, tensor<1x3xi32>) -> (%
