// Two arrays that are stacked along the last axis are read as vectors, whose elements alternate in memory.
// RUN: adze opt %s --pass-pipeline=stack-kernels | filecheck %s

module attributes {adze.target = "cpu:x86-64-v3"} {
  flow.executable private @stack {
    flow.executable.export public @of_two workgroups() -> (index, index, index) {
      %x, %y, %z = iree_tensor_ext.dispatch.workgroup_count_from_slice()
      flow.return %x, %y, %z : index, index, index
    }
    builtin.module {
      func.func @of_two(%a: !iree_tensor_ext.dispatch.tensor<readonly:tensor<100xf32>>, %b: !iree_tensor_ext.dispatch.tensor<readonly:tensor<100xf32>>, %out: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<100x2xf32>>) {
        %c0 = arith.constant 0 : index
        %x = iree_tensor_ext.dispatch.tensor.load %a, offsets = [0], sizes = [100], strides = [1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<100xf32>> -> tensor<100xf32>
        %y = iree_tensor_ext.dispatch.tensor.load %b, offsets = [0], sizes = [100], strides = [1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<100xf32>> -> tensor<100xf32>
        %empty = tensor.empty() : tensor<100x2xf32>
        %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i)>, affine_map<(i, k) -> (i)>, affine_map<(i, k) -> (i, k)>], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<100xf32>, tensor<100xf32>) outs(%empty : tensor<100x2xf32>) {
        ^bb0(%p: f32, %q: f32, %o: f32):
          %k = linalg.index 1 : index
          %is_first = arith.cmpi eq, %k, %c0 : index
          %e = arith.select %is_first, %p, %q : f32
          linalg.yield %e : f32
        } -> tensor<100x2xf32>
        iree_tensor_ext.dispatch.tensor.store %r, %out, offsets = [0, 0], sizes = [100, 2], strides = [1, 1] : tensor<100x2xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<100x2xf32>>
        return
      }
    }
  }
}

// CHECK: stream.executable private @stack
// CHECK: stream.executable.export public @of_two
// CHECK: %[[TO:.*]] = stream.binding.subspan %arg2{{.*}} memref<200xf32>
// CHECK: scf.for
// CHECK: vector.load {{.*}} : memref<100xf32>, vector<8xf32>
// CHECK: vector.load {{.*}} : memref<100xf32>, vector<8xf32>
// CHECK: %[[FIRST:.*]] = vector.shuffle {{.*}} [0, 8, 1, 9, 2, 10, 3, 11]
// CHECK: %[[SECOND:.*]] = vector.shuffle {{.*}} [4, 12, 5, 13, 6, 14, 7, 15]
// CHECK: vector.store %[[FIRST]], %[[TO]]
// CHECK: vector.store %[[SECOND]], %[[TO]]
