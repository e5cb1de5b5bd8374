// On Vulkan, where the first keys are equal the second keys decide, and then the position; the keys of unsigned integers are shifted to signed ones.
// RUN: adze opt %s --pass-pipeline='lower{target=vulkan:ampere},canonicalize' | filecheck %s

func.func @f(%arg0: tensor<40xi32>, %arg1: tensor<40xui32>) -> (tensor<40xi32>, tensor<40xui32>) {
  %0:2 = "adze.sort"(%arg0, %arg1) {axis = 0 : i64, is_stable = true, num_keys = 2 : i64} : (tensor<40xi32>, tensor<40xui32>) -> (tensor<40xi32>, tensor<40xui32>)
  return %0#0, %0#1 : tensor<40xi32>, tensor<40xui32>
}

// CHECK: arith.xori %in, %c-2147483648_i32 : i32
// CHECK: [[EARLIER:%.+]] = arith.cmpi ult
// CHECK: [[LESS2:%.+]] = arith.cmpi slt
// CHECK: [[EQUAL2:%.+]] = arith.cmpi eq
// CHECK: [[TIED:%.+]] = arith.andi [[EQUAL2]], [[EARLIER]] : i1
// CHECK: [[SECOND:%.+]] = arith.ori [[LESS2]], [[TIED]] : i1
// CHECK: [[LESS1:%.+]] = arith.cmpi slt
// CHECK: [[EQUAL1:%.+]] = arith.cmpi eq
// CHECK: [[BOTH:%.+]] = arith.andi [[EQUAL1]], [[SECOND]] : i1
// CHECK: arith.ori [[LESS1]], [[BOTH]] : i1
