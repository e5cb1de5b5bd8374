// Complex numbers are printed as pairs of reals, with their dynamic sizes.
// RUN: adze opt %s --pass-pipeline='lower{target=cpu:x86-64-v4},canonicalize' | filecheck %s

func.func @f(%x: tensor<?xcomplex<f32>>) -> tensor<?xcomplex<f32>> {
  "adze.print"(%x) {format = "z = {}"} : (tensor<?xcomplex<f32>>) -> ()
  return %x : tensor<?xcomplex<f32>>
}

// CHECK: [[SIZE:%.+]] = tensor.dim %arg0, %c0
// CHECK: complex.re %in
// CHECK: complex.im %in
// CHECK: flow.tensor.trace "z = {}" = [{{.*}} : tensor<?x2xf32>{[[SIZE]]}]
