// A conversion between integers wraps.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<4xi64>) -> tensor<4xi16> {
  %0 = "adze.convert"(%x) {dtype = i16} : (tensor<4xi64>) -> tensor<4xi16>
  return %0 : tensor<4xi16>
}

// CHECK: arith.trunci %in : i64 to i16
// CHECK-NEXT: linalg.yield
