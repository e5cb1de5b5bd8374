// What IREE subtracts from a sum is added to it negated: such a kernel has loops of our own as well.
// RUN: adze opt %s --pass-pipeline=reduction-kernels | filecheck %s

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
module attributes {adze.target = "cpu:x86-64-v3"} {
  flow.executable private @squares {
    flow.executable.export public @of_rows workgroups() -> (index, index, index) {
      %x, %y, %z = iree_tensor_ext.dispatch.workgroup_count_from_slice()
      flow.return %x, %y, %z : index, index, index
    }
    builtin.module {
      func.func @of_rows(%x: !iree_tensor_ext.dispatch.tensor<readonly:tensor<64x100xf32>>, %out: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<64x100xf32>>) {
        %zero = arith.constant 0.0 : f32
        %one = arith.constant 1.0 : f32
        %a = iree_tensor_ext.dispatch.tensor.load %x, offsets = [0, 0], sizes = [64, 100], strides = [1, 1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<64x100xf32>> -> tensor<64x100xf32>
        %whole = tensor.empty() : tensor<64x100xf32>
        %empty = tensor.empty() : tensor<64xf32>
        %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<64xf32>) -> tensor<64xf32>
        %sum = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
          ins(%a : tensor<64x100xf32>) outs(%init : tensor<64xf32>) {
        ^bb0(%e: f32, %s: f32):
          %p = arith.mulf %e, %e : f32
          %t = arith.subf %s, %p : f32
          linalg.yield %t : f32
        } -> tensor<64xf32>
        %divided = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
          ins(%a, %sum : tensor<64x100xf32>, tensor<64xf32>) outs(%whole : tensor<64x100xf32>) {
        ^bb0(%e: f32, %s: f32, %o: f32):
          %t = arith.addf %s, %one : f32
          %d = arith.divf %e, %t : f32
          linalg.yield %d : f32
        } -> tensor<64x100xf32>
        iree_tensor_ext.dispatch.tensor.store %divided, %out, offsets = [0, 0], sizes = [64, 100], strides = [1, 1] : tensor<64x100xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<64x100xf32>>
        return
      }
    }
  }
}

// CHECK: stream.executable private @squares
// CHECK: scf.for {{.*}} iter_args
// CHECK: %[[SQUARE:.*]] = arith.mulf {{.*}} : vector<8xf32>
// CHECK-NEXT: %[[NEGATED:.*]] = arith.negf %[[SQUARE]] : vector<8xf32>
// CHECK-NEXT: arith.addf {{.*}}, %[[NEGATED]] : vector<8xf32>
// CHECK: vector.reduction <add>
// CHECK-NOT: flow.executable
