// A conversion to a narrower integer saturates, and NaN becomes zero.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<4xf32>) -> tensor<4xi8> {
  %0 = "adze.convert"(%x) {dtype = i8} : (tensor<4xf32>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// CHECK: [[LOW:%.+]] = arith.cmpf oge, %in, {{.*}} : f32
// CHECK: [[HIGH:%.+]] = arith.cmpf olt, %in, {{.*}} : f32
// CHECK: [[FITS:%.+]] = arith.andi [[LOW]], [[HIGH]] : i1
// CHECK: [[SAFE:%.+]] = arith.select [[FITS]], %in, {{.*}} : f32
// CHECK: arith.fptosi [[SAFE]] : f32 to i32
// CHECK: [[BELOW:%.+]] = arith.select {{.*}}, %c-128_i8, %c0_i8 : i8
// CHECK: [[OUTSIDE:%.+]] = arith.select {{.*}}, %c127_i8, [[BELOW]] : i8
// CHECK: arith.select [[FITS]], {{.*}}, [[OUTSIDE]] : i8
