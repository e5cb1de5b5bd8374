// An unsigned remainder by zero is the dividend; signedness is in the op.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<4xui8>, %y: tensor<4xui8>) -> tensor<4xui8> {
  %0 = "adze.rem"(%x, %y) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  return %0 : tensor<4xui8>
}

// CHECK: func.func @f(%arg0: tensor<4xi8>, %arg1: tensor<4xi8>) -> tensor<4xi8>
// CHECK: [[ZERO:%.+]] = arith.cmpi eq, {{.*}}, %c0_i8 : i8
// CHECK: [[DIVISOR:%.+]] = arith.select [[ZERO]], %c1_i8
// CHECK: [[REST:%.+]] = arith.remui %in, [[DIVISOR]] : i8
// CHECK: arith.select [[ZERO]], %in, [[REST]] : i8
