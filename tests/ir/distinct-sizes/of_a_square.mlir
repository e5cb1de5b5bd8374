// The equal sizes of a square that is packed become values of their own; different ones stay as they are.
// RUN: adze opt %s --pass-pipeline=distinct-sizes | filecheck %s

#m = affine_map<(b, i, j, k) -> (b, i, k)>
#n = affine_map<(b, i, j, k) -> (b, k, j)>
#r = affine_map<(b, i, j, k) -> (b, i, j)>
#packed = #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [#m, #n, #r], iteration_sizes = [?, ?, 64, ?]>

module attributes {adze.target = "cpu:x86-64-v3"} {
  util.func public @f(%x: tensor<?x?x?xf32>, %y: tensor<?x?x?xf32>, %b: index, %s: index, %t: index) -> (tensor<?x?x?xf32, #packed>, tensor<?x?x?xf32, #packed>) {
    %square = flow.tensor.encode %x : tensor<?x?x?xf32>{%b, %s, %s} -> tensor<?x?x?xf32, #packed>{%b, %s, %s}
    %other = flow.tensor.encode %y : tensor<?x?x?xf32>{%b, %s, %t} -> tensor<?x?x?xf32, #packed>{%b, %s, %t}
    util.return %square, %other : tensor<?x?x?xf32, #packed>, tensor<?x?x?xf32, #packed>
  }
}

// CHECK: @f(%{{.*}}: tensor<?x?x?xf32>, %{{.*}}: tensor<?x?x?xf32>, %[[B:.*]]: index, %[[S:.*]]: index, %[[T:.*]]: index)
// CHECK: %[[OWN:.*]] = util.optimization_barrier %[[S]] : index
// CHECK: flow.tensor.encode {{.*}}{%[[B]], %[[S]], %[[OWN]]} -> {{.*}}{%[[B]], %[[S]], %[[OWN]]}
// CHECK-NOT: util.optimization_barrier
// CHECK: flow.tensor.encode {{.*}}{%[[B]], %[[S]], %[[T]]} -> {{.*}}{%[[B]], %[[S]], %[[T]]}
