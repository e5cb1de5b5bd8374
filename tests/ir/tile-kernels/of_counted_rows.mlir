// Rows of a known size are reduced at once, however many there are; those of a dynamic size are left to IREE.
// RUN: adze opt %s --pass-pipeline=tile-kernels | filecheck %s

#m = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>

module attributes {adze.target = "cpu:x86-64-v3"} {
  flow.executable private @kernels {
    builtin.module {
      func.func @known(%x: tensor<?x512xf32>, %n: index, %out: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<?xf32>>) {
        %zero = arith.constant 0.0 : f32
        %0 = iree_tensor_ext.dispatch.workload.ordinal %n, 0 : index
        %1 = flow.dispatch.tie_shape %out : !iree_tensor_ext.dispatch.tensor<writeonly:tensor<?xf32>>{%0}
        %empty = tensor.empty(%0) : tensor<?xf32>
        %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
        %y = linalg.generic {indexing_maps = [#m, #r], iterator_types = ["parallel", "reduction"]}
          ins(%x : tensor<?x512xf32>) outs(%init : tensor<?xf32>) {
        ^bb0(%a: f32, %b: f32):
          %s = arith.addf %a, %b : f32
          linalg.yield %s : f32
        } -> tensor<?xf32>
        iree_tensor_ext.dispatch.tensor.store %y, %1, offsets = [0], sizes = [%0], strides = [1] : tensor<?xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<?xf32>>{%0}
        return
      }
      func.func @dynamic(%x: tensor<?x?xf32>, %n: index, %out: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<?xf32>>) {
        %zero = arith.constant 0.0 : f32
        %0 = iree_tensor_ext.dispatch.workload.ordinal %n, 0 : index
        %1 = flow.dispatch.tie_shape %out : !iree_tensor_ext.dispatch.tensor<writeonly:tensor<?xf32>>{%0}
        %empty = tensor.empty(%0) : tensor<?xf32>
        %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
        %y = linalg.generic {indexing_maps = [#m, #r], iterator_types = ["parallel", "reduction"]}
          ins(%x : tensor<?x?xf32>) outs(%init : tensor<?xf32>) {
        ^bb0(%a: f32, %b: f32):
          %s = arith.addf %a, %b : f32
          linalg.yield %s : f32
        } -> tensor<?xf32>
        iree_tensor_ext.dispatch.tensor.store %y, %1, offsets = [0], sizes = [%0], strides = [1] : tensor<?xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<?xf32>>{%0}
        return
      }
    }
  }
}

// CHECK: #[[ROWS:.*]] = #iree_cpu.lowering_config<distribution = [8, 0], vector_common_parallel = [1, 0], vector_reduction = [0, 513]>
// CHECK: #[[INFO:.*]] = #iree_codegen.compilation_info<lowering_config = #[[ROWS]],
// CHECK: @known
// CHECK: compilation_info = #[[INFO]]}
// CHECK: @dynamic
// CHECK-NOT: compilation_info
