// A chain of 32 calls is a kernel, which calls a function on vectors by parts of 24 calls.
// RUN: adze opt %s --pass-pipeline='call-functions' | filecheck %s

module attributes {adze.target = "cpu:x86-64-v4"} {
  func.func @chain(%x: tensor<64xf32>) -> tensor<64xf32> {
    %empty = tensor.empty() : tensor<64xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%0 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%1 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %3 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%2 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %4 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%3 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %5 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%4 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %6 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%5 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %7 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%6 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %8 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%7 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %9 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%8 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %10 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%9 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %11 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%10 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %12 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%11 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %13 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%12 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %14 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%13 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %15 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%14 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %16 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%15 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %17 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%16 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %18 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%17 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %19 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%18 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %20 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%19 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %21 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%20 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %22 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%21 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %23 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%22 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %24 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%23 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %25 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%24 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %26 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%25 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %27 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%26 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %28 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%27 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %29 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%28 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %30 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%29 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %31 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%30 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = func.call @scalar.half(%in) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %32 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%31 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = arith.addf %in, %in : f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    %33 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%32 : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %y = arith.addf %in, %in : f32
      linalg.yield %y : f32
    } -> tensor<64xf32>
    return %33 : tensor<64xf32>
  }
  func.func private @scalar.half(%x: f32) -> f32 attributes {no_inline} {
    %half = arith.constant 5.000000e-01 : f32
    %y = arith.mulf %x, %half : f32
    return %y : f32
  }
}

// CHECK: func.func @kernel_functions(
// CHECK: memref<64xf32>
// CHECK: scf.for
// CHECK: vector.load {{.*}} vector<64xf32>
// CHECK: call @kernel_functions.part_0(
// CHECK: call @kernel_functions.part_{{[1-9]}}(
// CHECK: vector.store
// CHECK: func.func private @kernel_functions.part_0(%{{.*}}: vector<64xf32>) -> vector<64xf32> attributes {passthrough = ["noinline"]}
// CHECK-COUNT-24: call @kernel_functions.part_0.scalar.half
// CHECK: arith.mulf {{.*}} : vector<64xf32>
// CHECK: func.func @chain
// CHECK-NOT: linalg.generic
// CHECK: flow.dispatch @kernel_functions
