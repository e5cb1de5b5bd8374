// Rows that are reversed are loaded as vectors from behind, not element by element.
// RUN: adze opt %s --pass-pipeline=element-kernels | filecheck %s

module attributes {adze.target = "cpu:x86-64-v3"} {
  flow.executable private @reversed {
    flow.executable.export public @of_rows workgroups() -> (index, index, index) {
      %x, %y, %z = iree_tensor_ext.dispatch.workgroup_count_from_slice()
      flow.return %x, %y, %z : index, index, index
    }
    builtin.module {
      func.func @of_rows(%in: !iree_tensor_ext.dispatch.tensor<readonly:tensor<64x100xf32>>, %out: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<6400xf32>>) {
        %c100 = arith.constant 100 : index
        %c99 = arith.constant 99 : index
        %x = iree_tensor_ext.dispatch.tensor.load %in, offsets = [0, 0], sizes = [64, 100], strides = [1, 1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<64x100xf32>> -> tensor<64x100xf32>
        %empty = tensor.empty() : tensor<6400xf32>
        %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%empty : tensor<6400xf32>) {
        ^bb0(%o: f32):
          %i = linalg.index 0 : index
          %column = arith.remsi %i, %c100 : index
          %row = arith.divsi %i, %c100 : index
          %place = arith.subi %c99, %column : index
          %e = tensor.extract %x[%row, %place] : tensor<64x100xf32>
          linalg.yield %e : f32
        } -> tensor<6400xf32>
        iree_tensor_ext.dispatch.tensor.store %r, %out, offsets = [0], sizes = [6400], strides = [1] : tensor<6400xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<6400xf32>>
        return
      }
    }
  }
}

// CHECK: stream.executable private @reversed
// CHECK: stream.executable.export public @of_rows
// CHECK: %[[FROM:.*]] = stream.binding.subspan %arg0{{.*}} memref<64x100xf32>
// CHECK: %[[TO:.*]] = stream.binding.subspan %arg1{{.*}} memref<64x100xf32>
// CHECK: scf.for %[[ROW:.*]] =
// CHECK: scf.for %[[COLUMN:.*]] =
// CHECK: %[[V:.*]] = vector.load %[[FROM]][%[[ROW]], {{.*}} : memref<64x100xf32>, vector<8xf32>
// CHECK: %[[R:.*]] = vector.shuffle %[[V]], %[[V]] [7, 6, 5, 4, 3, 2, 1, 0]
// CHECK: vector.store %[[R]], %[[TO]][%[[ROW]], %[[COLUMN]]]
// CHECK: vector.store {{.*}} vector<4xf32>
// CHECK-NOT: flow.executable
