// A check is an assertion with its message.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%ok: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  "adze.check"(%ok) {message = "x is negative"} : (tensor<i1>) -> ()
  return %x : tensor<2xf32>
}

// CHECK: [[OK:%.+]] = tensor.extract %arg0[] : tensor<i1>
// CHECK: cf.assert [[OK]], "x is negative"
