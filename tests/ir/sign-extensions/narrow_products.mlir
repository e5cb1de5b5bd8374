// Integers of 8 and 16 bits are widened by shifts for SPIR-V; products of 8 bits stay where a device has dot products, in IREE's tiles.
// RUN: adze opt %s --pass-pipeline='plan{target=vulkan:lavapipe},sign-extensions' | filecheck %s
// RUN: adze opt %s --pass-pipeline='plan{target=metal},sign-extensions' | filecheck %s
// RUN: adze opt %s --pass-pipeline='plan{target=vulkan:ampere},sign-extensions' | filecheck %s --check-prefix=DOTS
// RUN: adze opt %s --pass-pipeline='plan{target=cuda:sm_80},sign-extensions' | filecheck %s --check-prefix=ELSEWHERE

#left = affine_map<(d0, d1, d2) -> (d0, d2)>
#right = affine_map<(d0, d1, d2) -> (d2, d1)>
#sums = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @of_known_sizes(%a: tensor<64x64xi8>, %b: tensor<64x64xi8>, %sums: tensor<64x64xi32>) -> tensor<64x64xi32> {
  %0 = linalg.generic {indexing_maps = [#left, #right, #sums], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<64x64xi8>, tensor<64x64xi8>) outs(%sums : tensor<64x64xi32>) {
  ^bb0(%x: i8, %y: i8, %sum: i32):
    %1 = arith.extsi %x : i8 to i32
    %2 = arith.extsi %y : i8 to i32
    %3 = arith.muli %1, %2 : i32
    %4 = arith.addi %sum, %3 : i32
    linalg.yield %4 : i32
  } -> tensor<64x64xi32>
  return %0 : tensor<64x64xi32>
}

func.func @of_any_sizes(%a: tensor<?x64xi8>, %b: tensor<64x64xi8>, %sums: tensor<?x64xi32>) -> tensor<?x64xi32> {
  %0 = linalg.generic {indexing_maps = [#left, #right, #sums], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<?x64xi8>, tensor<64x64xi8>) outs(%sums : tensor<?x64xi32>) {
  ^bb0(%x: i8, %y: i8, %sum: i32):
    %1 = arith.extsi %x : i8 to i32
    %2 = arith.extsi %y : i8 to i32
    %3 = arith.muli %1, %2 : i32
    %4 = arith.addi %sum, %3 : i32
    linalg.yield %4 : i32
  } -> tensor<?x64xi32>
  return %0 : tensor<?x64xi32>
}

func.func private @widened(%x: i16) -> i64 {
  %0 = arith.extsi %x : i16 to i64
  return %0 : i64
}

func.func private @wide(%x: i32) -> i64 {
  %0 = arith.extsi %x : i32 to i64
  return %0 : i64
}

// CHECK-LABEL: func.func @of_known_sizes
// CHECK: %[[COUNT:.*]] = arith.constant 24 : i32
// CHECK: %[[WIDE:.*]] = arith.extui %{{.*}} : i8 to i32
// CHECK: %[[LEFT:.*]] = arith.shli %[[WIDE]], %[[COUNT]] : i32
// CHECK: arith.shrsi %[[LEFT]], %[[COUNT]] : i32
// CHECK-NOT: arith.extsi
// CHECK-LABEL: func.func private @widened
// CHECK: arith.constant 48 : i64
// CHECK: arith.shrsi
// CHECK-LABEL: func.func private @wide
// CHECK: arith.extsi

// DOTS-LABEL: func.func @of_known_sizes
// DOTS-NOT: arith.extui
// DOTS-LABEL: func.func @of_any_sizes
// DOTS-NOT: arith.extsi
// DOTS-LABEL: func.func private @widened
// DOTS: arith.shrsi

// ELSEWHERE-NOT: arith.extui
