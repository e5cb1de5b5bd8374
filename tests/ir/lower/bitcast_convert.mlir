// A bitcast keeps the bits of each element.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<4xf32>) -> tensor<4xi32> {
  %0 = "adze.bitcast_convert"(%x) {dtype = i32} : (tensor<4xf32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// CHECK: arith.bitcast %in : f32 to i32
