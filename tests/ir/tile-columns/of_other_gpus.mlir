// Kernels for other machines are left alone.
// RUN: adze opt %s --pass-pipeline=tile-columns | filecheck %s

#m = affine_map<(j, i) -> (i, j)>
#o = affine_map<(i, j) -> (i)>

module attributes {adze.target = "vulkan:ampere"} {
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
    }
  }
}

// CHECK: @columns
// CHECK-NOT: compilation_info
