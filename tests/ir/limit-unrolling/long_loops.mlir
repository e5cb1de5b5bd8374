// Of a program with a loop as a kernel, LLVM unrolls loops of at most 16 iterations, and small ones of that kernel.
// RUN: adze opt %s --pass-pipeline='limit-unrolling{least-loops=1}' | filecheck %s

module attributes {adze.target = "cpu:x86-64-v3"} {
  stream.executable private @kernel_loop {
    stream.executable.export public @kernel_loop workgroups() -> (index, index, index) {
      %one = arith.constant 1 : index
      stream.return %one, %one, %one : index, index, index
    }
    builtin.module {
      func.func @kernel_loop(%count: index, %0: !stream.binding) {
        %zero = arith.constant 0 : index
        %one = arith.constant 1 : index
        %four = arith.constant 4 : index
        %most = arith.constant 64 : index
        %more = arith.constant 65 : index
        %f = arith.constant 1.0 : f32
        %x = stream.binding.subspan %0[%zero] : !stream.binding -> memref<65xf32>
        scf.for %i = %zero to %most step %four {
          memref.store %f, %x[%i] : memref<65xf32>
        }
        scf.for %i = %zero to %more step %four {
          scf.for %j = %zero to %four step %one {
            memref.store %f, %x[%j] : memref<65xf32>
          }
        }
        scf.for %i = %zero to %count step %one {
          memref.store %f, %x[%i] : memref<65xf32>
          memref.store %f, %x[%i] : memref<65xf32>
          memref.store %f, %x[%i] : memref<65xf32>
          memref.store %f, %x[%i] : memref<65xf32>
          memref.store %f, %x[%i] : memref<65xf32>
          memref.store %f, %x[%i] : memref<65xf32>
          memref.store %f, %x[%i] : memref<65xf32>
          memref.store %f, %x[%i] : memref<65xf32>
          memref.store %f, %x[%i] : memref<65xf32>
          memref.store %f, %x[%i] : memref<65xf32>
          memref.store %f, %x[%i] : memref<65xf32>
          memref.store %f, %x[%i] : memref<65xf32>
          memref.store %f, %x[%i] : memref<65xf32>
          memref.store %f, %x[%i] : memref<65xf32>
          memref.store %f, %x[%i] : memref<65xf32>
          memref.store %f, %x[%i] : memref<65xf32>
          memref.store %f, %x[%i] : memref<65xf32>
          memref.store %f, %x[%i] : memref<65xf32>
          memref.store %f, %x[%i] : memref<65xf32>
          memref.store %f, %x[%i] : memref<65xf32>
          memref.store %f, %x[%i] : memref<65xf32>
          memref.store %f, %x[%i] : memref<65xf32>
          memref.store %f, %x[%i] : memref<65xf32>
          memref.store %f, %x[%i] : memref<65xf32>
        }
        return
      }
    }
  }
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

// CHECK: #[[HINT:.*]] = #llvm.loop_annotation<unroll = #{{.*}}>
// CHECK: func.func @kernel_loop
// CHECK: scf.for %{{.*}} = %c0 to %c64
// CHECK-NEXT: memref.store
// CHECK-NEXT: }{{$}}
// CHECK-NEXT: scf.for %{{.*}} = %c0 to %c65
// CHECK-NEXT: scf.for %{{.*}} = %c0 to %c4
// CHECK-NEXT: memref.store
// CHECK-NEXT: }{{$}}
// CHECK-NEXT: }{{$}}
// CHECK-NEXT: scf.for
// CHECK-COUNT-24: memref.store
// CHECK-NEXT: } {llvm.loop_annotation = #[[HINT]]}
// CHECK: func.func @kernel_product
// CHECK: scf.for %{{.*}} = %c0 to %c512
// CHECK-NEXT: vector.store
// CHECK-NEXT: } {llvm.loop_annotation = #[[HINT]]}
