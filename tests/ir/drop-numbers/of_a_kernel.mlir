// A kernel is no longer passed the number that it does not use, and the place of the array that it writes moves.
// RUN: adze opt %s --pass-pipeline=drop-numbers | filecheck %s

module attributes {adze.target = "cpu:x86-64-v3"} {
  stream.executable private @kernel {
    stream.executable.export public @kernel workgroups() -> (index, index, index) {
      %c1 = arith.constant 1 : index
      stream.return %c1, %c1, %c1 : index, index, index
    }
    builtin.module {
      func.func @kernel(%a: !stream.binding, %unused: index, %n: index, %out: !stream.binding) {
        %c0 = arith.constant 0 : index
        %x = stream.binding.subspan %a[%c0] : !stream.binding -> memref<?xf32>{%n}
        %y = stream.binding.subspan %out[%c0] : !stream.binding -> memref<?xf32>{%n}
        %e = memref.load %x[%c0] : memref<?xf32>
        memref.store %e, %y[%c0] : memref<?xf32>
        return
      }
    }
  }
  util.func public @f(%x: tensor<?xf32>, %y: tensor<?xf32>, %m: index, %n: index) -> tensor<?xf32> {
    %0 = flow.dispatch @kernel::@kernel(%x, %m, %n, %y) : (tensor<?xf32>{%n}, index, index, tensor<?xf32>{%n}) -> %y{%n}
    util.return %0 : tensor<?xf32>
  }
}

// CHECK: func.func @kernel(%arg0: !stream.binding, %arg1: index, %arg2: !stream.binding)
// CHECK: stream.binding.subspan %arg0[%c0] : !stream.binding -> memref<?xf32>{%arg1}
// CHECK: flow.dispatch @kernel::@kernel(%arg0, %arg3, %arg1) : (tensor<?xf32>{%arg3}, index, tensor<?xf32>{%arg3}) -> %arg1{%arg3}
