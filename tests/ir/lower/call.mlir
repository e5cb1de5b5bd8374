// A call of a private function is inlined; unsigned integers become signless ones.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func private @double(%x: tensor<3xui8>) -> tensor<3xui8> {
  %0 = "adze.add"(%x, %x) : (tensor<3xui8>, tensor<3xui8>) -> tensor<3xui8>
  return %0 : tensor<3xui8>
}
func.func @f(%x: tensor<3xui8>) -> tensor<3xui8> {
  %0 = "adze.call"(%x) {callee = @double, results = [tensor<3xui8>]} : (tensor<3xui8>) -> tensor<3xui8>
  return %0 : tensor<3xui8>
}

// CHECK: func.func @f(%arg0: tensor<3xi8>) -> tensor<3xi8> {
// CHECK: %2 = arith.addi %in, %in_0 : i8
// CHECK: return %1 : tensor<3xi8>
