// For GPUs a sum goes behind a barrier where each of few sums is broadcast to many elements, or one to an unknown number.
// RUN: adze opt %s --pass-pipeline='plan{target=cuda:sm_80},mark-barriers' | filecheck %s
// RUN: adze opt %s --pass-pipeline='plan{target=vulkan:lavapipe},mark-barriers' | filecheck %s
// RUN: adze opt %s --pass-pipeline='plan{target=rocm:gfx942},mark-barriers' | filecheck %s
// RUN: adze opt %s --pass-pipeline='plan{target=cpu:x86-64-v3},mark-barriers' | filecheck %s --check-prefix=CPU

func.func @of_a_vector(%x: tensor<40000xf32>) -> tensor<40000xf32> {
  %0 = "adze.reduce_sum"(%x) {axes = array<i64: 0>} : (tensor<40000xf32>) -> tensor<f32>
  %1 = "adze.sqrt"(%0) : (tensor<f32>) -> tensor<f32>
  %2 = "adze.broadcast_in_dim"(%1) {dimensions = array<i64>, shape = array<i64: 40000>} : (tensor<f32>) -> tensor<40000xf32>
  %3 = "adze.div"(%x, %2) : (tensor<40000xf32>, tensor<40000xf32>) -> tensor<40000xf32>
  return %3 : tensor<40000xf32>
}

func.func @of_any_length(%x: tensor<?xf32>) -> tensor<?xf32> {
  %n = "adze.dim"(%x) {axis = 0 : i64} : (tensor<?xf32>) -> index
  %0 = "adze.reduce_sum"(%x) {axes = array<i64: 0>} : (tensor<?xf32>) -> tensor<f32>
  %1 = "adze.broadcast_in_dim"(%0, %n) {dimensions = array<i64>, shape = array<i64: -9223372036854775808>} : (tensor<f32>, index) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

func.func @of_few_rows(%x: tensor<64x40000xf32>) -> tensor<64x40000xf32> {
  %0 = "adze.reduce_max"(%x) {axes = array<i64: 1>} : (tensor<64x40000xf32>) -> tensor<64xf32>
  %1 = "adze.broadcast_in_dim"(%0) {dimensions = array<i64: 0>, shape = array<i64: 64, 40000>} : (tensor<64xf32>) -> tensor<64x40000xf32>
  return %1 : tensor<64x40000xf32>
}

func.func @of_many_rows(%x: tensor<65x40000xf32>) -> tensor<65x40000xf32> {
  %0 = "adze.reduce_max"(%x) {axes = array<i64: 1>} : (tensor<65x40000xf32>) -> tensor<65xf32>
  %1 = "adze.broadcast_in_dim"(%0) {dimensions = array<i64: 0>, shape = array<i64: 65, 40000>} : (tensor<65xf32>) -> tensor<65x40000xf32>
  return %1 : tensor<65x40000xf32>
}

func.func @of_a_short_vector(%x: tensor<30000xf32>) -> tensor<30000xf32> {
  %0 = "adze.reduce_sum"(%x) {axes = array<i64: 0>} : (tensor<30000xf32>) -> tensor<f32>
  %1 = "adze.broadcast_in_dim"(%0) {dimensions = array<i64>, shape = array<i64: 30000>} : (tensor<f32>) -> tensor<30000xf32>
  return %1 : tensor<30000xf32>
}

// CHECK-LABEL: func.func @of_a_vector
// CHECK: "adze.reduce_sum"({{.*}}) {adze.barrier,
// CHECK-LABEL: func.func @of_any_length
// CHECK: "adze.reduce_sum"({{.*}}) {adze.barrier,
// CHECK-LABEL: func.func @of_few_rows
// CHECK: "adze.reduce_max"({{.*}}) {adze.barrier,
// CHECK-LABEL: func.func @of_many_rows
// CHECK-NOT: adze.barrier
// CPU-NOT: adze.barrier
