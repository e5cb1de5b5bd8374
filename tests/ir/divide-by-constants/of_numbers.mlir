// A kernel divides by a constant with two multiplications, which round as the division does.
// RUN: adze opt %s --pass-pipeline=divide-by-constants | filecheck %s

// So it does not by a power of two, which needs one, by 0.95, where some quotients would be off by a unit in the
// last place, and by an element.
#all = affine_map<(i) -> (i)>
module attributes {adze.target = "cpu:x86-64-v3"} {
  flow.executable private @quotients {
    flow.executable.export public @of_pixels workgroups() -> (index, index, index) {
      %x, %y, %z = iree_tensor_ext.dispatch.workgroup_count_from_slice()
      flow.return %x, %y, %z : index, index, index
    }
    builtin.module {
      func.func @of_pixels(%x: !iree_tensor_ext.dispatch.tensor<readonly:tensor<64xf32>>, %out: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<64xf32>>) {
        %pixel = arith.constant 2.550000e+02 : f32
        %two = arith.constant 2.000000e+00 : f32
        %decay = arith.constant 9.500000e-01 : f32
        %a = iree_tensor_ext.dispatch.tensor.load %x, offsets = [0], sizes = [64], strides = [1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<64xf32>> -> tensor<64xf32>
        %empty = tensor.empty() : tensor<64xf32>
        %0 = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel"]}
          ins(%a : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
        ^bb0(%e: f32, %o: f32):
          %1 = arith.divf %e, %pixel : f32
          %2 = arith.divf %1, %two : f32
          %3 = arith.divf %2, %decay : f32
          %4 = arith.divf %3, %e : f32
          linalg.yield %4 : f32
        } -> tensor<64xf32>
        iree_tensor_ext.dispatch.tensor.store %0, %out, offsets = [0], sizes = [64], strides = [1] : tensor<64xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<64xf32>>
        return
      }
    }
  }
}

// CHECK-DAG: %[[HIGH:.*]] = arith.constant 0.00392156839 : f32
// CHECK-DAG: %[[LOW:.*]] = arith.constant 2.33743719E-10 : f32
// CHECK: ^bb0(%[[E:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[REST:.*]] = arith.mulf %[[E]], %[[LOW]] : f32
// CHECK-NEXT: %[[Q:.*]] = math.fma %[[E]], %[[HIGH]], %[[REST]] : f32
// CHECK-NEXT: %[[HALF:.*]] = arith.divf %[[Q]], %{{.*}} : f32
// CHECK-NEXT: %[[D:.*]] = arith.divf %[[HALF]], %{{.*}} : f32
// CHECK-NEXT: arith.divf %[[D]], %[[E]] : f32
