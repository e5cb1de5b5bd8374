// An integer division has no undefined case: by zero it is -1, and the least integer by -1 is itself.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %0 = "adze.div"(%x, %y) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// CHECK: [[ZERO:%.+]] = arith.cmpi eq, {{.*}}, %c0_i32 : i32
// CHECK: arith.cmpi eq, %in, %c-2147483648_i32 : i32
// CHECK: arith.cmpi eq, {{.*}}, %c-1_i32 : i32
// CHECK: [[UNDEFINED:%.+]] = arith.ori [[ZERO]], {{.*}} : i1
// CHECK: [[DIVISOR:%.+]] = arith.select [[UNDEFINED]], %c1_i32, {{.*}} : i32
// CHECK: [[QUOTIENT:%.+]] = arith.divsi %in, [[DIVISOR]] : i32
// CHECK: arith.select [[ZERO]], %c-1_i32, [[QUOTIENT]] : i32
