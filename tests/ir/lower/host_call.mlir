// A host call is a call of a function that the program imports, whose types have no sizes.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<2xf32>) -> tensor<2xui8> {
  %y = "adze.host_call"(%x) {callback = "call_0", result_types = [tensor<2xui8>], mapping = "sequential", batches = []} : (tensor<2xf32>) -> tensor<2xui8>
  return %y : tensor<2xui8>
}

// CHECK: func.func private @adze_host.call_0(tensor<?xf32>) -> tensor<?xi8>
// CHECK: %[[X:.*]] = tensor.cast %arg0 : tensor<2xf32> to tensor<?xf32>
// CHECK: %[[Y:.*]] = call @adze_host.call_0(%[[X]]) : (tensor<?xf32>) -> tensor<?xi8>
// CHECK: tensor.cast %[[Y]] : tensor<?xi8> to tensor<2xi8>
