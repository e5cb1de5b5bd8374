// Attention stays for CUDA where IREE has good code for its sizes; for other sizes, and other targets, its ops take its place.
// RUN: adze opt %s --pass-pipeline='plan{target=cuda},expand-routines' | filecheck %s
// RUN: adze opt %s --pass-pipeline='plan{target=cpu},expand-routines' | filecheck %s --check-prefix=OPS

func.func @f(%x: tensor<2x64x64xf16>, %y: tensor<2x8x64xf16>) -> (tensor<2x64x64xf16>, tensor<2x8x64xf16>) {
  %0 = "adze.routine"(%x, %x, %x) {callee = @fits, kernel = "attention 0.125", results = [tensor<2x64x64xf16>]} : (tensor<2x64x64xf16>, tensor<2x64x64xf16>, tensor<2x64x64xf16>) -> tensor<2x64x64xf16>
  %1 = "adze.routine"(%y, %y, %y) {callee = @other, kernel = "attention 0.125", results = [tensor<2x8x64xf16>]} : (tensor<2x8x64xf16>, tensor<2x8x64xf16>, tensor<2x8x64xf16>) -> tensor<2x8x64xf16>
  return %0, %1 : tensor<2x64x64xf16>, tensor<2x8x64xf16>
}
func.func private @fits(%q: tensor<2x64x64xf16>, %k: tensor<2x64x64xf16>, %v: tensor<2x64x64xf16>) -> tensor<2x64x64xf16> {
  %0 = "adze.sin"(%q) : (tensor<2x64x64xf16>) -> tensor<2x64x64xf16>
  return %0 : tensor<2x64x64xf16>
}
func.func private @other(%q: tensor<2x8x64xf16>, %k: tensor<2x8x64xf16>, %v: tensor<2x8x64xf16>) -> tensor<2x8x64xf16> {
  %0 = "adze.cos"(%q) : (tensor<2x8x64xf16>) -> tensor<2x8x64xf16>
  return %0 : tensor<2x8x64xf16>
}

// CHECK-LABEL: func.func @f
// CHECK-NEXT: "adze.routine"(%arg0, %arg0, %arg0)
// CHECK-NEXT: "adze.cos"(%arg1)
// OPS-LABEL: func.func @f
// OPS-NEXT: "adze.sin"(%arg0)
// OPS-NEXT: "adze.cos"(%arg1)
