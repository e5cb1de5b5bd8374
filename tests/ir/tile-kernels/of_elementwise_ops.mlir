// A kernel of elementwise ops gets tiles that divide its size; the loop of a prime is split into steps and a rest.
// RUN: adze opt %s --pass-pipeline=tile-kernels | filecheck %s

module attributes {adze.target = "cpu:x86-64-v3"} {
  flow.executable private @kernels {
    builtin.module {
      func.func @divided(%x: tensor<4000000xf32>, %out: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4000000xf32>>) {
        %init = tensor.empty() : tensor<4000000xf32>
        %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
          ins(%x : tensor<4000000xf32>) outs(%init : tensor<4000000xf32>) {
        ^bb0(%a: f32, %b: f32):
          %s = arith.addf %a, %a : f32
          linalg.yield %s : f32
        } -> tensor<4000000xf32>
        iree_tensor_ext.dispatch.tensor.store %y, %out, offsets = [0], sizes = [4000000], strides = [1] : tensor<4000000xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4000000xf32>>
        return
      }
      func.func @prime(%x: tensor<1000003xf64>, %out: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<1000003xf64>>) {
        %init = tensor.empty() : tensor<1000003xf64>
        %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
          ins(%x : tensor<1000003xf64>) outs(%init : tensor<1000003xf64>) {
        ^bb0(%a: f64, %b: f64):
          %s = arith.addf %a, %a : f64
          linalg.yield %s : f64
        } -> tensor<1000003xf64>
        iree_tensor_ext.dispatch.tensor.store %y, %out, offsets = [0], sizes = [1000003], strides = [1] : tensor<1000003xf64> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<1000003xf64>>
        return
      }
    }
  }
}

// CHECK: #[[DIVIDES:.*]] = #iree_cpu.lowering_config<distribution = [16000], vector_common_parallel = [32]>
// CHECK: #[[SPLIT:.*]] = #iree_cpu.lowering_config<distribution = [16384], vector_common_parallel = [16]>
// CHECK: #[[FIRST:.*]] = #iree_codegen.compilation_info<lowering_config = #[[DIVIDES]],
// CHECK: #[[SECOND:.*]] = #iree_codegen.compilation_info<lowering_config = #[[SPLIT]],
// CHECK: @divided
// CHECK: compilation_info = #[[FIRST]]}
// CHECK: @prime
// CHECK: compilation_info = #[[SECOND]]}
