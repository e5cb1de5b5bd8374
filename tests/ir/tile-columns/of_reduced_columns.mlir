// Threads of a GPU read columns that lie beside each other; rows, few columns and means that go on keep IREE's tiles.
// RUN: adze opt %s --pass-pipeline=tile-columns | filecheck %s

#m = affine_map<(j, i) -> (i, j)>
#r = affine_map<(i, j) -> (i, j)>
#o = affine_map<(i, j) -> (i)>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>

module attributes {adze.target = "cuda:sm_90"} {
  flow.executable private @kernels {
    builtin.module {
      func.func @columns(%x: tensor<512x384xf32>, %init: tensor<384xf32>) {
        %y = linalg.generic {indexing_maps = [#m, #o], iterator_types = ["parallel", "reduction"]}
          ins(%x : tensor<512x384xf32>) outs(%init : tensor<384xf32>) {
        ^bb0(%a: f32, %b: f32):
          %s = arith.addf %a, %b : f32
          linalg.yield %s : f32
        } -> tensor<384xf32>
        return
      }
      func.func @halves(%x: tensor<512x320xf16>, %init: tensor<320xf16>) {
        %y = linalg.generic {indexing_maps = [#m, #o], iterator_types = ["parallel", "reduction"]}
          ins(%x : tensor<512x320xf16>) outs(%init : tensor<320xf16>) {
        ^bb0(%a: f16, %b: f16):
          %s = arith.addf %a, %b : f16
          linalg.yield %s : f16
        } -> tensor<320xf16>
        return
      }
      func.func @few_rows(%x: tensor<4x512xf32>, %w: tensor<512x256xf32>, %init: tensor<4x256xf32>) {
        %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%x, %w : tensor<4x512xf32>, tensor<512x256xf32>) outs(%init : tensor<4x256xf32>) {
        ^bb0(%a: f32, %b: f32, %c: f32):
          %p = arith.mulf %a, %b : f32
          %s = arith.addf %c, %p : f32
          linalg.yield %s : f32
        } -> tensor<4x256xf32>
        return
      }
      func.func @many_rows(%x: tensor<64x512xf32>, %w: tensor<512x256xf32>, %init: tensor<64x256xf32>) {
        %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%x, %w : tensor<64x512xf32>, tensor<512x256xf32>) outs(%init : tensor<64x256xf32>) {
        ^bb0(%a: f32, %b: f32, %c: f32):
          %p = arith.mulf %a, %b : f32
          %s = arith.addf %c, %p : f32
          linalg.yield %s : f32
        } -> tensor<64x256xf32>
        return
      }
      func.func @rows(%x: tensor<384x512xf32>, %init: tensor<384xf32>) {
        %y = linalg.generic {indexing_maps = [#r, #o], iterator_types = ["parallel", "reduction"]}
          ins(%x : tensor<384x512xf32>) outs(%init : tensor<384xf32>) {
        ^bb0(%a: f32, %b: f32):
          %s = arith.addf %a, %b : f32
          linalg.yield %s : f32
        } -> tensor<384xf32>
        return
      }
      func.func @narrow(%x: tensor<512x31xf32>, %init: tensor<31xf32>) {
        %y = linalg.generic {indexing_maps = [#m, #o], iterator_types = ["parallel", "reduction"]}
          ins(%x : tensor<512x31xf32>) outs(%init : tensor<31xf32>) {
        ^bb0(%a: f32, %b: f32):
          %s = arith.addf %a, %b : f32
          linalg.yield %s : f32
        } -> tensor<31xf32>
        return
      }
      func.func @goes_on(%x: tensor<512x384xf32>, %init: tensor<384xf32>, %out: tensor<384x512xf32>) {
        %y = linalg.generic {indexing_maps = [#m, #o], iterator_types = ["parallel", "reduction"]}
          ins(%x : tensor<512x384xf32>) outs(%init : tensor<384xf32>) {
        ^bb0(%a: f32, %b: f32):
          %s = arith.addf %a, %b : f32
          linalg.yield %s : f32
        } -> tensor<384xf32>
        %z = linalg.generic {indexing_maps = [#m, #o, #r], iterator_types = ["parallel", "parallel"]}
          ins(%x, %y : tensor<512x384xf32>, tensor<384xf32>) outs(%out : tensor<384x512xf32>) {
        ^bb0(%a: f32, %b: f32, %c: f32):
          %s = arith.subf %a, %b : f32
          linalg.yield %s : f32
        } -> tensor<384x512xf32>
        return
      }
    }
  }
}

// CHECK: #[[WIDE:.*]] = #iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{reduction = [0, 4], thread = [4, 0], workgroup = [128, 0]}>,
// CHECK: #[[HALVES:.*]] = #iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{reduction = [0, 4], thread = [2, 0], workgroup = [64, 0]}>,
// CHECK: #[[FEW:.*]] = #iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{reduction = [0, 0, 4], thread = [4, 4, 0], workgroup = [4, 128, 0]}>,
// CHECK: @columns
// CHECK: compilation_info = #[[WIDE]]
// CHECK: @halves
// CHECK: compilation_info = #[[HALVES]]
// CHECK: @few_rows
// CHECK: compilation_info = #[[FEW]]
// CHECK: @many_rows
// CHECK-NOT: compilation_info
