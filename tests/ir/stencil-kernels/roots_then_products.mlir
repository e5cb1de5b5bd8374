// Roots of sums of rows, and products of these: one kernel that keeps of the roots the three rows which are still read.
// RUN: adze opt %s --pass-pipeline=stencil-kernels | filecheck %s

#map = affine_map<(i, j) -> (i, j)>
module attributes {adze.target = "cpu:x86-64-v3"} {
  flow.executable private @sums {
    flow.executable.export public @of_rows workgroups() -> (index, index, index) {
      %x, %y, %z = iree_tensor_ext.dispatch.workgroup_count_from_slice()
      flow.return %x, %y, %z : index, index, index
    }
    builtin.module {
      func.func @of_rows(%in: !iree_tensor_ext.dispatch.tensor<readonly:tensor<100x130xf32>>, %out: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<98x128xf32>>) {
        %below = iree_tensor_ext.dispatch.tensor.load %in, offsets = [2, 1], sizes = [98, 128], strides = [1, 1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<100x130xf32>> -> tensor<98x128xf32>
        %above = iree_tensor_ext.dispatch.tensor.load %in, offsets = [0, 1], sizes = [98, 128], strides = [1, 1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<100x130xf32>> -> tensor<98x128xf32>
        %empty = tensor.empty() : tensor<98x128xf32>
        %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
          ins(%above, %below : tensor<98x128xf32>, tensor<98x128xf32>) outs(%empty : tensor<98x128xf32>) {
        ^bb0(%a: f32, %b: f32, %o: f32):
          %s = arith.addf %a, %b : f32
          %v = math.sqrt %s : f32
          linalg.yield %v : f32
        } -> tensor<98x128xf32>
        iree_tensor_ext.dispatch.tensor.store %r, %out, offsets = [0, 0], sizes = [98, 128], strides = [1, 1] : tensor<98x128xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<98x128xf32>>
        return
      }
    }
  }
  flow.executable private @products {
    flow.executable.export public @of_sums workgroups() -> (index, index, index) {
      %x, %y, %z = iree_tensor_ext.dispatch.workgroup_count_from_slice()
      flow.return %x, %y, %z : index, index, index
    }
    builtin.module {
      func.func @of_sums(%in: !iree_tensor_ext.dispatch.tensor<readonly:tensor<98x128xf32>>, %out: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<96x126xf32>>) {
        %below = iree_tensor_ext.dispatch.tensor.load %in, offsets = [2, 1], sizes = [96, 126], strides = [1, 1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<98x128xf32>> -> tensor<96x126xf32>
        %above = iree_tensor_ext.dispatch.tensor.load %in, offsets = [0, 1], sizes = [96, 126], strides = [1, 1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<98x128xf32>> -> tensor<96x126xf32>
        %empty = tensor.empty() : tensor<96x126xf32>
        %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
          ins(%above, %below : tensor<96x126xf32>, tensor<96x126xf32>) outs(%empty : tensor<96x126xf32>) {
        ^bb0(%a: f32, %b: f32, %o: f32):
          %v = arith.mulf %a, %b : f32
          linalg.yield %v : f32
        } -> tensor<96x126xf32>
        iree_tensor_ext.dispatch.tensor.store %r, %out, offsets = [0, 0], sizes = [96, 126], strides = [1, 1] : tensor<96x126xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<96x126xf32>>
        return
      }
    }
  }
  util.func public @twice(%x: tensor<100x130xf32>) -> tensor<96x126xf32> {
    %0 = flow.dispatch @sums::@of_rows(%x) : (tensor<100x130xf32>) -> tensor<98x128xf32>
    %1 = flow.dispatch @products::@of_sums(%0) : (tensor<98x128xf32>) -> tensor<96x126xf32>
    util.return %1 : tensor<96x126xf32>
  }
}

// CHECK: stream.executable private @kernel_stencil
// CHECK: stream.binding.subspan %arg0{{.*}} memref<100x130xf32>
// CHECK: %[[RESULT:.*]] = stream.binding.subspan %arg1{{.*}} memref<96x126xf32>
// CHECK: %[[ROWS:.*]] = stream.binding.subspan %arg2{{.*}} memref<3x3x126xf32>
// CHECK: %[[ROOT:.*]] = math.sqrt {{.*}} : vector<8xf32>
// CHECK: vector.store %[[ROOT]], %[[ROWS]]
// CHECK: vector.load %[[ROWS]]
// CHECK: %[[PRODUCT:.*]] = arith.mulf {{.*}} : vector<8xf32>
// CHECK: vector.store %[[PRODUCT]], %[[RESULT]]
// CHECK-NOT: flow.executable
// CHECK-LABEL: util.func public @twice
// CHECK: flow.dispatch @kernel_stencil::@kernel_stencil(%arg0,
// CHECK-NOT: flow.dispatch
