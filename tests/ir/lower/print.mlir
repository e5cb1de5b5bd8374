// A print is a trace of the runtime under its label.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  "adze.print"(%x) {format = "x = {}"} : (tensor<2xf32>) -> ()
  return %x : tensor<2xf32>
}

// CHECK: flow.tensor.trace "x = {}" = [%arg0 : tensor<2xf32>]
// CHECK: return %arg0
