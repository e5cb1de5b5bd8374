// A product in a wider dtype extends its operands inside the loop.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<5x7xi8>, %y: tensor<7x6xi8>) -> tensor<5x6xi32> {
  %0 = "adze.dot_general"(%x, %y) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], dtype = i32} : (tensor<5x7xi8>, tensor<7x6xi8>) -> tensor<5x6xi32>
  return %0 : tensor<5x6xi32>
}

// CHECK: linalg.generic {{.*}}ins(%arg0, %arg1 : tensor<5x7xi8>, tensor<7x6xi8>) outs({{.*}} : tensor<5x6xi32>)
// CHECK: [[LEFT:%.+]] = arith.extsi %in : i8 to i32
// CHECK: [[RIGHT:%.+]] = arith.extsi {{.*}} : i8 to i32
// CHECK: [[PRODUCT:%.+]] = arith.muli [[LEFT]], [[RIGHT]] : i32
// CHECK: arith.addi %out, [[PRODUCT]] : i32
