// A conversion to bool asks for inequality with zero, which NaN has.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<4xf32>) -> tensor<4xi1> {
  %0 = "adze.convert"(%x) {dtype = i1} : (tensor<4xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// CHECK: %cst = arith.constant 0.000000e+00 : f32
// CHECK: arith.cmpf une, %in, %cst : f32
