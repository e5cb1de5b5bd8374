// Where no loop is a kernel, LLVM unrolls nothing, and no loop has a hint.
// RUN: adze opt %s --pass-pipeline=limit-unrolling | filecheck %s

module attributes {adze.target = "cpu:x86-64-v3"} {
  stream.executable private @kernel_product {
    stream.executable.export public @kernel_product workgroups() -> (index, index, index) {
      %one = arith.constant 1 : index
      stream.return %one, %one, %one : index, index, index
    }
    builtin.module {
      func.func @kernel_product(%0: !stream.binding) {
        %zero = arith.constant 0 : index
        %eight = arith.constant 8 : index
        %most = arith.constant 512 : index
        %v = arith.constant dense<1.0> : vector<8xf32>
        %x = stream.binding.subspan %0[%zero] : !stream.binding -> memref<512xf32>
        scf.for %i = %zero to %most step %eight {
          vector.store %v, %x[%i] : memref<512xf32>, vector<8xf32>
        }
        return
      }
    }
  }
}

// CHECK: scf.for
// CHECK-NOT: loop_annotation
