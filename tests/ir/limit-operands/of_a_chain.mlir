// Elementwise ops that would be computed of more than 24 sizes and places have what came before behind a barrier.
// RUN: adze opt %s --pass-pipeline='limit-operands' | filecheck %s

#e = affine_map<(d0) -> (d0)>
func.func @f(%x: tensor<?xf32>, %n: index, %p0: index, %p1: index, %p2: index, %p3: index, %p4: index, %p5: index, %p6: index, %p7: index, %p8: index, %p9: index, %p10: index, %p11: index, %p12: index, %p13: index, %p14: index, %p15: index, %p16: index, %p17: index, %p18: index, %p19: index, %p20: index, %p21: index, %p22: index, %p23: index, %p24: index, %p25: index) -> tensor<?xf32> {
  %empty = tensor.empty(%n) : tensor<?xf32>
  %s0 = tensor.extract_slice %x[%p0] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %s1 = tensor.extract_slice %x[%p1] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %s2 = tensor.extract_slice %x[%p2] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %s3 = tensor.extract_slice %x[%p3] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %s4 = tensor.extract_slice %x[%p4] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %s5 = tensor.extract_slice %x[%p5] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %s6 = tensor.extract_slice %x[%p6] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %s7 = tensor.extract_slice %x[%p7] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %s8 = tensor.extract_slice %x[%p8] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %s9 = tensor.extract_slice %x[%p9] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %s10 = tensor.extract_slice %x[%p10] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %s11 = tensor.extract_slice %x[%p11] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %s12 = tensor.extract_slice %x[%p12] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %s13 = tensor.extract_slice %x[%p13] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %s14 = tensor.extract_slice %x[%p14] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %s15 = tensor.extract_slice %x[%p15] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %s16 = tensor.extract_slice %x[%p16] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %s17 = tensor.extract_slice %x[%p17] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %s18 = tensor.extract_slice %x[%p18] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %s19 = tensor.extract_slice %x[%p19] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %s20 = tensor.extract_slice %x[%p20] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %s21 = tensor.extract_slice %x[%p21] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %s22 = tensor.extract_slice %x[%p22] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %s23 = tensor.extract_slice %x[%p23] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %s24 = tensor.extract_slice %x[%p24] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %s25 = tensor.extract_slice %x[%p25] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %t1 = linalg.generic {indexing_maps = [#e, #e, #e], iterator_types = ["parallel"]} ins(%s0, %s1 : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<?xf32>
  %t2 = linalg.generic {indexing_maps = [#e, #e, #e], iterator_types = ["parallel"]} ins(%t1, %s2 : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<?xf32>
  %t3 = linalg.generic {indexing_maps = [#e, #e, #e], iterator_types = ["parallel"]} ins(%t2, %s3 : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<?xf32>
  %t4 = linalg.generic {indexing_maps = [#e, #e, #e], iterator_types = ["parallel"]} ins(%t3, %s4 : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<?xf32>
  %t5 = linalg.generic {indexing_maps = [#e, #e, #e], iterator_types = ["parallel"]} ins(%t4, %s5 : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<?xf32>
  %t6 = linalg.generic {indexing_maps = [#e, #e, #e], iterator_types = ["parallel"]} ins(%t5, %s6 : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<?xf32>
  %t7 = linalg.generic {indexing_maps = [#e, #e, #e], iterator_types = ["parallel"]} ins(%t6, %s7 : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<?xf32>
  %t8 = linalg.generic {indexing_maps = [#e, #e, #e], iterator_types = ["parallel"]} ins(%t7, %s8 : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<?xf32>
  %t9 = linalg.generic {indexing_maps = [#e, #e, #e], iterator_types = ["parallel"]} ins(%t8, %s9 : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<?xf32>
  %t10 = linalg.generic {indexing_maps = [#e, #e, #e], iterator_types = ["parallel"]} ins(%t9, %s10 : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<?xf32>
  %t11 = linalg.generic {indexing_maps = [#e, #e, #e], iterator_types = ["parallel"]} ins(%t10, %s11 : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<?xf32>
  %t12 = linalg.generic {indexing_maps = [#e, #e, #e], iterator_types = ["parallel"]} ins(%t11, %s12 : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<?xf32>
  %t13 = linalg.generic {indexing_maps = [#e, #e, #e], iterator_types = ["parallel"]} ins(%t12, %s13 : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<?xf32>
  %t14 = linalg.generic {indexing_maps = [#e, #e, #e], iterator_types = ["parallel"]} ins(%t13, %s14 : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<?xf32>
  %t15 = linalg.generic {indexing_maps = [#e, #e, #e], iterator_types = ["parallel"]} ins(%t14, %s15 : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<?xf32>
  %t16 = linalg.generic {indexing_maps = [#e, #e, #e], iterator_types = ["parallel"]} ins(%t15, %s16 : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<?xf32>
  %t17 = linalg.generic {indexing_maps = [#e, #e, #e], iterator_types = ["parallel"]} ins(%t16, %s17 : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<?xf32>
  %t18 = linalg.generic {indexing_maps = [#e, #e, #e], iterator_types = ["parallel"]} ins(%t17, %s18 : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<?xf32>
  %t19 = linalg.generic {indexing_maps = [#e, #e, #e], iterator_types = ["parallel"]} ins(%t18, %s19 : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<?xf32>
  %t20 = linalg.generic {indexing_maps = [#e, #e, #e], iterator_types = ["parallel"]} ins(%t19, %s20 : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<?xf32>
  %t21 = linalg.generic {indexing_maps = [#e, #e, #e], iterator_types = ["parallel"]} ins(%t20, %s21 : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<?xf32>
  %t22 = linalg.generic {indexing_maps = [#e, #e, #e], iterator_types = ["parallel"]} ins(%t21, %s22 : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<?xf32>
  %t23 = linalg.generic {indexing_maps = [#e, #e, #e], iterator_types = ["parallel"]} ins(%t22, %s23 : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<?xf32>
  %t24 = linalg.generic {indexing_maps = [#e, #e, #e], iterator_types = ["parallel"]} ins(%t23, %s24 : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<?xf32>
  %t25 = linalg.generic {indexing_maps = [#e, #e, #e], iterator_types = ["parallel"]} ins(%t24, %s25 : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<?xf32>
  return %t25 : tensor<?xf32>
}

// CHECK-COUNT-17: linalg.generic
// CHECK: %[[SUM:.*]] = linalg.generic
// CHECK: %[[APART:.*]] = iree_tensor_ext.compute_barrier.start %[[SUM]]
// CHECK-NOT: compute_barrier
// CHECK: linalg.generic {{.*}} ins(%[[APART]], 
