// An index that is clamped where it is made is not clamped, nor counted from the end, where it is used.
// RUN: adze opt %s --pass-pipeline=simplify-ranges | filecheck %s

#all = affine_map<(i) -> (i)>
module attributes {adze.target = "cpu:x86-64-v3"} {
  flow.executable private @elements {
    flow.executable.export public @at_places workgroups() -> (index, index, index) {
      %x, %y, %z = iree_tensor_ext.dispatch.workgroup_count_from_slice()
      flow.return %x, %y, %z : index, index, index
    }
    builtin.module {
      func.func @at_places(%x: !iree_tensor_ext.dispatch.tensor<readonly:tensor<64xi32>>, %y: !iree_tensor_ext.dispatch.tensor<readonly:tensor<64xf32>>, %out: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<64xf32>>) {
        %zero = arith.constant 0 : i32
        %one = arith.constant 1 : i32
        %few = arith.constant 62 : i32
        %count = arith.constant 64 : i32
        %first = arith.constant 0 : i64
        %last = arith.constant 63 : i64
        %a = iree_tensor_ext.dispatch.tensor.load %x, offsets = [0], sizes = [64], strides = [1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<64xi32>> -> tensor<64xi32>
        %b = iree_tensor_ext.dispatch.tensor.load %y, offsets = [0], sizes = [64], strides = [1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<64xf32>> -> tensor<64xf32>
        %empty = tensor.empty() : tensor<64xf32>
        %0 = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel"]}
          ins(%a : tensor<64xi32>) outs(%empty : tensor<64xf32>) {
        ^bb0(%e: i32, %o: f32):
          %1 = arith.maxsi %e, %zero : i32
          %2 = arith.minsi %1, %few : i32
          %3 = arith.addi %2, %one : i32
          %4 = arith.cmpi slt, %3, %zero : i32
          %5 = arith.addi %3, %count : i32
          %6 = arith.select %4, %5, %3 : i32
          %7 = arith.extsi %6 : i32 to i64
          %8 = arith.minsi %7, %last : i64
          %9 = arith.maxsi %8, %first : i64
          %10 = arith.index_cast %9 : i64 to index
          %11 = tensor.extract %b[%10] : tensor<64xf32>
          linalg.yield %11 : f32
        } -> tensor<64xf32>
        iree_tensor_ext.dispatch.tensor.store %0, %out, offsets = [0], sizes = [64], strides = [1] : tensor<64xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<64xf32>>
        return
      }
    }
  }
}

// CHECK: ^bb0(%[[E:.*]]: i32, %{{.*}}: f32):
// CHECK-NEXT: %[[A:.*]] = arith.maxsi %[[E]]
// CHECK-NEXT: %[[B:.*]] = arith.minsi %[[A]]
// CHECK-NEXT: %[[C:.*]] = arith.addi %[[B]]
// CHECK: %[[L:.*]] = arith.extsi %[[C]]
// CHECK-NEXT: %[[P:.*]] = arith.index_cast %[[L]]
// CHECK-NEXT: tensor.extract %{{.*}}[%[[P]]]
