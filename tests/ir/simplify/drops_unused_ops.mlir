// What no result needs is dropped; what acts on the world stays.
// RUN: adze opt %s --pass-pipeline='simplify' | filecheck %s

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "adze.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "adze.sin"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  "adze.print"(%x) {format = "x = {}"} : (tensor<4xf32>) -> ()
  return %x : tensor<4xf32>
}

// CHECK-LABEL: func.func @f(%arg0: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: "adze.print"(%arg0) {format = "x = {}"} : (tensor<4xf32>) -> ()
// CHECK-NEXT: return %arg0 : tensor<4xf32>
