// Each group of ranks has one channel, however many collectives it has, which is made when the program is loaded.
// RUN: adze opt %s --pass-pipeline='lower{target=cuda:sm_80+nccl},hold-channels' | filecheck %s

func.func @f(%a: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  %i = "adze.mesh_index"() {axis = 0 : i64, axis_name = "d", mesh = array<i64: 2, 2>} : () -> tensor<i32>
  %j = "adze.mesh_index"() {axis = 1 : i64, axis_name = "m", mesh = array<i64: 2, 2>} : () -> tensor<i32>
  %0 = "adze.all_reduce"(%a, %i) {axis = 0 : i64, axis_name = "d", kind = "sum", mesh = array<i64: 2, 2>} : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %1 = "adze.all_reduce"(%a, %j) {axis = 1 : i64, axis_name = "m", kind = "sum", mesh = array<i64: 2, 2>} : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %2 = "adze.all_reduce"(%0, %i) {axis = 0 : i64, axis_name = "d", kind = "max", mesh = array<i64: 2, 2>} : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  return %0, %1, %2 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}

// CHECK: util.global private @[[D:.*]] : !flow.channel
// CHECK-NEXT: util.initializer {
// CHECK-NEXT: %[[CHANNEL:.*]] = flow.channel.default "channel.axis-0.mesh-2x2" : !flow.channel
// CHECK-NEXT: util.global.store %[[CHANNEL]], @[[D]]
// CHECK: util.global private @[[M:.*]] : !flow.channel
// CHECK: flow.channel.default "channel.axis-1.mesh-2x2" : !flow.channel
// CHECK-NOT: util.global private
// CHECK-LABEL: func.func @f
// CHECK: %[[FIRST:.*]] = util.global.load @[[D]] : !flow.channel
// CHECK: %[[SUM:.*]] = flow.collective.all_reduce {{.*}}, %arg0, %[[FIRST]]
// CHECK: util.global.load @[[M]]
// CHECK: %[[AGAIN:.*]] = util.global.load @[[D]]
// CHECK: flow.collective.all_reduce {{.*}}, %[[SUM]], %[[AGAIN]]
