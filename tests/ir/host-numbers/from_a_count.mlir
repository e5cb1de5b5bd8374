// What is computed from a count that the host has is the host's arithmetic; the kernel gets the result.
// RUN: adze opt %s --pass-pipeline='host-numbers' | filecheck %s

#number = affine_map<() -> ()>
#scalar = affine_map<(d0) -> ()>
#vector = affine_map<(d0) -> (d0)>
module attributes {adze.target = "cuda:sm_90"} {
  func.func @f(%count: i32, %x: tensor<8xi32>) -> tensor<8xi32> {
    %made = tensor.from_elements %count : tensor<i32>
    %three = arith.constant dense<3> : tensor<i32>
    %number = tensor.empty() : tensor<i32>
    %next = linalg.generic {indexing_maps = [#number, #number, #number], iterator_types = []}
        ins(%made, %three : tensor<i32>, tensor<i32>) outs(%number : tensor<i32>) {
    ^bb0(%a: i32, %b: i32, %out: i32):
      %sum = arith.addi %a, %b : i32
      linalg.yield %sum : i32
    } -> tensor<i32>
    %read = tensor.extract %next[] : tensor<i32>
    %index = arith.index_cast %read : i32 to index
    %element = tensor.extract %x[%index] : tensor<8xi32>
    %all = tensor.splat %element : tensor<8xi32>
    %empty = tensor.empty() : tensor<8xi32>
    %result = linalg.generic {indexing_maps = [#vector, #scalar, #vector], iterator_types = ["parallel"]}
        ins(%all, %next : tensor<8xi32>, tensor<i32>) outs(%empty : tensor<8xi32>) {
    ^bb0(%a: i32, %b: i32, %out: i32):
      %product = arith.muli %a, %b : i32
      linalg.yield %product : i32
    } -> tensor<8xi32>
    return %result : tensor<8xi32>
  }
}

// CHECK: func.func @f(%[[COUNT:.*]]: i32, %[[X:.*]]: tensor<8xi32>)
// CHECK: %[[SUM:.*]] = arith.addi %[[COUNT]], %{{.*}} : i32
// CHECK: %[[MADE:.*]] = tensor.from_elements %[[SUM]] : tensor<i32>
// CHECK: %[[NUMBER:.*]] = linalg.generic
// CHECK-NEXT: ^bb0
// CHECK-NEXT: linalg.yield %[[SUM]]
// CHECK: tensor.extract %[[MADE]][]
// CHECK: ins(%{{.*}}, %[[NUMBER]] : tensor<8xi32>, tensor<i32>)
