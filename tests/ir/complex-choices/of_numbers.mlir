// For Metal, whose SPIR-V has no choice between vectors, complex numbers are chosen part by part; for Vulkan as they are.
// RUN: adze opt %s --pass-pipeline='plan{target=metal},complex-choices' | filecheck %s
// RUN: adze opt %s --pass-pipeline='plan{target=vulkan:ampere},complex-choices' | filecheck %s --check-prefix=ELSEWHERE

func.func private @chosen(%mask: i1, %x: complex<f32>, %y: complex<f32>) -> complex<f32> {
  %0 = arith.select %mask, %x, %y : complex<f32>
  return %0 : complex<f32>
}

func.func private @real(%mask: i1, %x: f32, %y: f32) -> f32 {
  %0 = arith.select %mask, %x, %y : f32
  return %0 : f32
}

// CHECK-LABEL: func.func private @chosen
// CHECK-SAME: (%[[MASK:.*]]: i1, %[[X:.*]]: complex<f32>, %[[Y:.*]]: complex<f32>)
// CHECK-DAG: %[[RX:.*]] = complex.re %[[X]]
// CHECK-DAG: %[[RY:.*]] = complex.re %[[Y]]
// CHECK: %[[REAL:.*]] = arith.select %[[MASK]], %[[RX]], %[[RY]] : f32
// CHECK: %[[IMAGINARY:.*]] = arith.select %[[MASK]], {{.*}} : f32
// CHECK: complex.create %[[REAL]], %[[IMAGINARY]] : complex<f32>
// CHECK-LABEL: func.func private @real
// CHECK: arith.select {{.*}} : f32

// ELSEWHERE: arith.select {{.*}} : complex<f32>
// ELSEWHERE-NOT: complex.create
