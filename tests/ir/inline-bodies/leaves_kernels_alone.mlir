// What runs on lowered IR leaves the kernels beside the functions alone, their loops and private functions too.
// RUN: adze opt %s --pass-pipeline='fuse-reductions,resolve-tiles,inline-bodies,use-loop-state,bound-sizes,keep-lifetimes,separate-reductions,strip-tiles' | filecheck %s

module attributes {adze.target = "cpu", adze.hints = {}} {
  stream.executable private @kernel_negate {
    stream.executable.export public @kernel_negate workgroups() -> (index, index, index) {
      %c1 = arith.constant 1 : index
      stream.return %c1, %c1, %c1 : index, index, index
    }
    builtin.module {
      func.func @kernel_negate(%x: !stream.binding, %y: !stream.binding) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c4 = arith.constant 4 : index
        %0 = stream.binding.subspan %x[%c0] : !stream.binding -> memref<4xf32>
        %1 = stream.binding.subspan %y[%c0] : !stream.binding -> memref<4xf32>
        scf.for %i = %c0 to %c4 step %c1 {
          %2 = memref.load %0[%i] : memref<4xf32>
          %3 = arith.negf %2 : f32
          memref.store %3, %1[%i] : memref<4xf32>
        }
        return
      }
    }
  }
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = flow.dispatch @kernel_negate::@kernel_negate(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// CHECK: stream.executable private @kernel_negate {
// CHECK: stream.executable.export public @kernel_negate workgroups() -> (index, index, index) {
// CHECK: func.func @kernel_negate(%{{.*}}: !stream.binding, %{{.*}}: !stream.binding) {
// CHECK: scf.for
// CHECK: memref.store
// CHECK-NEXT: }
// CHECK-NEXT: return
// CHECK-NEXT: }
// CHECK: func.func @f(
// CHECK-NEXT: flow.dispatch @kernel_negate::@kernel_negate(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return
