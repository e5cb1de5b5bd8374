// A conversion of unsigned integers is unsigned although their type no longer says it.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<4xui8>) -> tensor<4xf32> {
  %0 = "adze.convert"(%x) {dtype = f32} : (tensor<4xui8>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: func.func @f(%arg0: tensor<4xi8>)
// CHECK: arith.uitofp %in : i8 to f32
