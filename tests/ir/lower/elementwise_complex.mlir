// A complex product is a scalar function of real and imaginary parts.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<4xcomplex<f32>>, %y: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = "adze.mul"(%x, %y) : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// CHECK: func.call @scalar.mul.complex64
// CHECK: func.func private @scalar.mul.complex64
// CHECK: [[RE:%.+]] = arith.subf {{.*}} : f32
// CHECK: [[IM:%.+]] = arith.addf {{.*}} : f32
// CHECK: complex.create [[RE]], [[IM]] : complex<f32>
