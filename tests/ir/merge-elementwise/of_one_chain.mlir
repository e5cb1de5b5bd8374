// A chain of 32 elementwise ops is one op with the bodies of all, in their order.
// RUN: adze opt %s --pass-pipeline='merge-elementwise' | filecheck %s

#map = affine_map<(d0) -> (d0)>
func.func @many(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %empty = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%0, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%1, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %3 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%2, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %4 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%3, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %5 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%4, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %6 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%5, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %7 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%6, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %8 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%7, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %9 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%8, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %10 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%9, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %11 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%10, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %12 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%11, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %13 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%12, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %14 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%13, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %15 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%14, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %16 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%15, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %17 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%16, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %18 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%17, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %19 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%18, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %20 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%19, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %21 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%20, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %22 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%21, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %23 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%22, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %24 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%23, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %25 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%24, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %26 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%25, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %27 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%26, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %28 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%27, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %29 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%28, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %30 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%29, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %31 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%30, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %s = arith.mulf %in, %other : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %31 : tensor<8xf32>
}

// CHECK: func.func @many
// CHECK-COUNT-1: linalg.generic
// CHECK-COUNT-32: arith.mulf
// CHECK-NOT: linalg.generic
// CHECK: return
