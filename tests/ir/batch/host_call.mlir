// A host call is one call of the whole batch: a row says how it is mapped, and which operands have the batch.
// RUN: adze opt %s --pass-pipeline='batch{function=f argnums=0 size=4}' | filecheck %s

func.func @f(%x: tensor<2xf32>) -> tensor<f32> {
  %y = "adze.host_call"(%x) {callback = "call_0", result_types = [tensor<f32>], mapping = "sequential", batches = []} : (tensor<2xf32>) -> tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: func.func @f_batched
// CHECK-NEXT: "adze.host_call"(%arg0) {batches = [array<i64: 1, 1>], callback = "call_0", mapping = "sequential", result_types = [tensor<4xf32>]} : (tensor<4x2xf32>) -> tensor<4xf32>
