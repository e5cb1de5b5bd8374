// Functions of equal layers are inlined in IREE's phase `flow`; a function of another name stays.
// RUN: adze opt %s --pass-pipeline=inline-layers | filecheck %s

module {
  util.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = util.call @adze_layer(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = util.call @adze_layer(%0) : (tensor<4xf32>) -> tensor<4xf32>
    %2 = util.call @other(%1) : (tensor<4xf32>) -> tensor<4xf32>
    util.return %2 : tensor<4xf32>
  }
  util.func private @adze_layer(%x: tensor<4xf32>) -> tensor<4xf32> attributes {inlining_policy = #util.inline.never} {
    %0 = arith.addf %x, %x : tensor<4xf32>
    util.return %0 : tensor<4xf32>
  }
  util.func private @other(%x: tensor<4xf32>) -> tensor<4xf32> attributes {inlining_policy = #util.inline.never} {
    %0 = arith.mulf %x, %x : tensor<4xf32>
    util.return %0 : tensor<4xf32>
  }
}

// CHECK: util.func public @main
// CHECK-COUNT-2: arith.addf
// CHECK: util.call @other
// CHECK-NOT: @adze_layer
// CHECK: @other
