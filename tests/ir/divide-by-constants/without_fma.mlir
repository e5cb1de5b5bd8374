// A processor without `fma` would call a function for it: it divides.
// RUN: adze opt %s --pass-pipeline=divide-by-constants | filecheck %s

module attributes {adze.target = "cpu:x86-64"} {
  stream.executable private @kernel {
    stream.executable.export public @kernel workgroups() -> (index, index, index) {
      %one = arith.constant 1 : index
      stream.return %one, %one, %one : index, index, index
    }
    builtin.module {
      func.func @kernel(%0: !stream.binding) {
        %zero = arith.constant 0 : index
        %three = arith.constant dense<3.000000e+00> : vector<4xf32>
        %x = stream.binding.subspan %0[%zero] : !stream.binding -> memref<4xf32>
        %v = vector.load %x[%zero] : memref<4xf32>, vector<4xf32>
        %q = arith.divf %v, %three : vector<4xf32>
        vector.store %q, %x[%zero] : memref<4xf32>, vector<4xf32>
        return
      }
    }
  }
}

// CHECK: arith.divf
// CHECK-NOT: math.fma
