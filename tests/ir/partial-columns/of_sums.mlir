// Sixteen workgroups sum rows of long columns, and one adds what they come to.
// RUN: adze opt %s --pass-pipeline=partial-columns | filecheck %s

#all = affine_map<(j, i) -> (i, j)>
#column = affine_map<(j, i) -> (j)>
module attributes {adze.target = "cpu:x86-64-v3"} {
  flow.executable private @sums {
    flow.executable.export public @of_columns workgroups() -> (index, index, index) {
      %x, %y, %z = iree_tensor_ext.dispatch.workgroup_count_from_slice()
      flow.return %x, %y, %z : index, index, index
    }
    builtin.module {
      func.func @of_columns(%x: !iree_tensor_ext.dispatch.tensor<readonly:tensor<8192x32xf32>>, %out: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<32xf32>>) {
        %zero = arith.constant 0.0 : f32
        %a = iree_tensor_ext.dispatch.tensor.load %x, offsets = [0, 0], sizes = [8192, 32], strides = [1, 1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<8192x32xf32>> -> tensor<8192x32xf32>
        %empty = tensor.empty() : tensor<32xf32>
        %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<32xf32>) -> tensor<32xf32>
        %sum = linalg.generic {indexing_maps = [#all, #column], iterator_types = ["parallel", "reduction"]}
          ins(%a : tensor<8192x32xf32>) outs(%init : tensor<32xf32>) {
        ^bb0(%e: f32, %s: f32):
          %t = arith.addf %s, %e : f32
          linalg.yield %t : f32
        } -> tensor<32xf32>
        iree_tensor_ext.dispatch.tensor.store %sum, %out, offsets = [0], sizes = [32], strides = [1] : tensor<32xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<32xf32>>
        return
      }
    }
  }
  util.func public @total(%x: tensor<8192x32xf32>) -> tensor<32xf32> {
    %0 = flow.dispatch @sums::@of_columns(%x) : (tensor<8192x32xf32>) -> tensor<32xf32>
    util.return %0 : tensor<32xf32>
  }
}

// CHECK: stream.executable private @kernel_columns_1
// CHECK-NOT: arith.constant 16
// CHECK: stream.return
// CHECK: stream.binding.subspan %arg1{{.*}} memref<16x32xf32>
// CHECK: stream.executable private @kernel_columns
// CHECK: %[[PARTS:.*]] = arith.constant 16 : index
// CHECK: stream.return %{{.*}}, %[[PARTS]], %{{.*}} : index, index, index
// CHECK: %[[SUMS:.*]] = stream.binding.subspan %arg1{{.*}} memref<16x32xf32>
// CHECK: hal.interface.workgroup.id[1]
// CHECK: arith.addf {{.*}} : vector<8xf32>
// CHECK: vector.store %{{.*}}, %[[SUMS]]
// CHECK-NOT: flow.executable
// CHECK-LABEL: util.func public @total
// CHECK: %[[PART:.*]] = flow.dispatch @kernel_columns::@kernel_columns(%arg0, {{.*}}) : (tensor<8192x32xf32>, tensor<16x32xf32>)
// CHECK: flow.dispatch @kernel_columns_1::@kernel_columns_1(%arg0, %[[PART]],
