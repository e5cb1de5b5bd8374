func.func @abs_0(%operand: tensor<3xi64>) -> (tensor<3xi64>) {
%result = stablehlo.abs %operand : tensor<3xi64>
func.return %result : tensor<3xi64>
}
// -----
func.func @abs_1(%operand: tensor<3xf64>) -> (tensor<3xf64>) {
%result = stablehlo.abs %operand : tensor<3xf64>
func.return %result : tensor<3xf64>
}
// -----
func.func @abs_2(%operand: tensor<complex<f64>>) -> (tensor<f64>) {
%result = "stablehlo.abs"(%operand) : (tensor<complex<f64>>) -> tensor<f64>
func.return %result : tensor<f64>
}
// -----
func.func @add_0(%0: tensor<4xi2>, %1: tensor<4xi2>) -> (tensor<4xi2>) {
%2 = stablehlo.add %0, %1 : tensor<4xi2>
func.return %2 : tensor<4xi2>
}
// -----
func.func @add_1(%0: tensor<2xui2>, %1: tensor<2xui2>) -> (tensor<2xui2>) {
%2 = stablehlo.add %0, %1 : tensor<2xui2>
func.return %2 : tensor<2xui2>
}
// -----
func.func @add_2(%0: tensor<5xi4>, %1: tensor<5xi4>) -> (tensor<5xi4>) {
%2 = stablehlo.add %0, %1 : tensor<5xi4>
func.return %2 : tensor<5xi4>
}
// -----
func.func @add_3(%0: tensor<2xui4>, %1: tensor<2xui4>) -> (tensor<2xui4>) {
%2 = stablehlo.add %0, %1 : tensor<2xui4>
func.return %2 : tensor<2xui4>
}
// -----
func.func @add_4(%0: tensor<5xi8>, %1: tensor<5xi8>) -> (tensor<5xi8>) {
%2 = stablehlo.add %0, %1 : tensor<5xi8>
func.return %2 : tensor<5xi8>
}
// -----
func.func @add_5(%0: tensor<2xui8>, %1: tensor<2xui8>) -> (tensor<2xui8>) {
%2 = stablehlo.add %0, %1 : tensor<2xui8>
func.return %2 : tensor<2xui8>
}
// -----
func.func @add_6(%0: tensor<5xi16>, %1: tensor<5xi16>) -> (tensor<5xi16>) {
%2 = stablehlo.add %0, %1 : tensor<5xi16>
func.return %2 : tensor<5xi16>
}
// -----
func.func @add_7(%0: tensor<2xui16>, %1: tensor<2xui16>) -> (tensor<2xui16>) {
%2 = stablehlo.add %0, %1 : tensor<2xui16>
func.return %2 : tensor<2xui16>
}
// -----
func.func @add_8(%0: tensor<5xi32>, %1: tensor<5xi32>) -> (tensor<5xi32>) {
%2 = stablehlo.add %0, %1 : tensor<5xi32>
func.return %2 : tensor<5xi32>
}
// -----
func.func @add_9(%0: tensor<2xui32>, %1: tensor<2xui32>) -> (tensor<2xui32>) {
%2 = stablehlo.add %0, %1 : tensor<2xui32>
func.return %2 : tensor<2xui32>
}
// -----
func.func @add_10(%0: tensor<5xi64>, %1: tensor<5xi64>) -> (tensor<5xi64>) {
%2 = stablehlo.add %0, %1 : tensor<5xi64>
func.return %2 : tensor<5xi64>
}
// -----
func.func @add_11(%0: tensor<2xui64>, %1: tensor<2xui64>) -> (tensor<2xui64>) {
%2 = stablehlo.add %0, %1 : tensor<2xui64>
func.return %2 : tensor<2xui64>
}
// -----
func.func @add_12(%0: tensor<4xi1>, %1: tensor<4xi1>) -> (tensor<4xi1>) {
%2 = stablehlo.add %0, %1 : tensor<4xi1>
func.return %2 : tensor<4xi1>
}
// -----
func.func @add_13(%0: tensor<11xbf16>, %1: tensor<11xbf16>) -> (tensor<11xbf16>) {
%2 = stablehlo.add %0, %1 : tensor<11xbf16>
func.return %2 : tensor<11xbf16>
}
// -----
func.func @add_14(%0: tensor<11xf16>, %1: tensor<11xf16>) -> (tensor<11xf16>) {
%2 = stablehlo.add %0, %1 : tensor<11xf16>
func.return %2 : tensor<11xf16>
}
// -----
func.func @add_15(%0: tensor<11xf32>, %1: tensor<11xf32>) -> (tensor<11xf32>) {
%2 = stablehlo.add %0, %1 : tensor<11xf32>
func.return %2 : tensor<11xf32>
}
// -----
func.func @add_16(%0: tensor<11xf64>, %1: tensor<11xf64>) -> (tensor<11xf64>) {
%2 = stablehlo.add %0, %1 : tensor<11xf64>
func.return %2 : tensor<11xf64>
}
// -----
func.func @add_17(%0: tensor<2xcomplex<f32>>, %1: tensor<2xcomplex<f32>>) -> (tensor<2xcomplex<f32>>) {
%2 = stablehlo.add %0, %1 : tensor<2xcomplex<f32>>
func.return %2 : tensor<2xcomplex<f32>>
}
// -----
func.func @add_18(%0: tensor<2xcomplex<f64>>, %1: tensor<2xcomplex<f64>>) -> (tensor<2xcomplex<f64>>) {
%2 = stablehlo.add %0, %1 : tensor<2xcomplex<f64>>
func.return %2 : tensor<2xcomplex<f64>>
}
// -----
func.func @add_19(%0: tensor<i4>, %1: tensor<i4>) -> (tensor<i4>) {
%2 = stablehlo.add %0, %1 : tensor<i4>
func.return %2 : tensor<i4>
}
// -----
func.func @add_20(%0: tensor<2x0x3xi4>, %1: tensor<2x0x3xi4>) -> (tensor<2x0x3xi4>) {
%2 = stablehlo.add %0, %1 : tensor<2x0x3xi4>
func.return %2 : tensor<2x0x3xi4>
}
// -----
func.func @and_0(%0: tensor<3xi4>, %1: tensor<3xi4>) -> (tensor<3xi4>) {
%2 = stablehlo.and %0, %1 : tensor<3xi4>
func.return %2 : tensor<3xi4>
}
// -----
func.func @and_1(%0: tensor<3xui4>, %1: tensor<3xui4>) -> (tensor<3xui4>) {
%2 = stablehlo.and %0, %1 : tensor<3xui4>
func.return %2 : tensor<3xui4>
}
// -----
func.func @and_2(%0: tensor<3xi8>, %1: tensor<3xi8>) -> (tensor<3xi8>) {
%2 = stablehlo.and %0, %1 : tensor<3xi8>
func.return %2 : tensor<3xi8>
}
// -----
func.func @and_3(%0: tensor<3xui8>, %1: tensor<3xui8>) -> (tensor<3xui8>) {
%2 = stablehlo.and %0, %1 : tensor<3xui8>
func.return %2 : tensor<3xui8>
}
// -----
func.func @and_4(%0: tensor<3xi16>, %1: tensor<3xi16>) -> (tensor<3xi16>) {
%2 = stablehlo.and %0, %1 : tensor<3xi16>
func.return %2 : tensor<3xi16>
}
// -----
func.func @and_5(%0: tensor<3xui16>, %1: tensor<3xui16>) -> (tensor<3xui16>) {
%2 = stablehlo.and %0, %1 : tensor<3xui16>
func.return %2 : tensor<3xui16>
}
// -----
func.func @and_6(%0: tensor<3xi32>, %1: tensor<3xi32>) -> (tensor<3xi32>) {
%2 = stablehlo.and %0, %1 : tensor<3xi32>
func.return %2 : tensor<3xi32>
}
// -----
func.func @and_7(%0: tensor<3xui32>, %1: tensor<3xui32>) -> (tensor<3xui32>) {
%2 = stablehlo.and %0, %1 : tensor<3xui32>
func.return %2 : tensor<3xui32>
}
// -----
func.func @and_8(%0: tensor<3xi64>, %1: tensor<3xi64>) -> (tensor<3xi64>) {
%2 = stablehlo.and %0, %1 : tensor<3xi64>
func.return %2 : tensor<3xi64>
}
// -----
func.func @and_9(%0: tensor<3xui64>, %1: tensor<3xui64>) -> (tensor<3xui64>) {
%2 = stablehlo.and %0, %1 : tensor<3xui64>
func.return %2 : tensor<3xui64>
}
// -----
func.func @and_10(%0: tensor<4xi1>, %1: tensor<4xi1>) -> (tensor<4xi1>) {
%2 = stablehlo.and %0, %1 : tensor<4xi1>
func.return %2 : tensor<4xi1>
}
// -----
func.func @and_11(%0: tensor<2xi1>, %1: tensor<2xi1>) -> (tensor<2xi1>) {
%2 = stablehlo.and %0, %1 : tensor<2xi1>
func.return %2 : tensor<2xi1>
}
// -----
func.func @and_12(%0: tensor<2xi1>, %1: tensor<2xi1>) -> (tensor<2xi1>) {
%2 = stablehlo.and %0, %1 : tensor<2xi1>
func.return %2 : tensor<2xi1>
}
// -----
func.func @atan2_0(%0: tensor<3xf64>, %1: tensor<3xf64>) -> (tensor<3xf64>) {
%2 = stablehlo.atan2 %0, %1 : tensor<3xf64>
func.return %2 : tensor<3xf64>
}
// -----
func.func @atan2_1(%0: tensor<2xcomplex<f64>>, %1: tensor<2xcomplex<f64>>) -> (tensor<2xcomplex<f64>>) {
%2 = stablehlo.atan2 %0, %1 : tensor<2xcomplex<f64>>
func.return %2 : tensor<2xcomplex<f64>>
}
// -----
func.func @bitcast_convert_0(%operand: tensor<64xi1>) -> (tensor<i64>) {
%result = stablehlo.bitcast_convert %operand : (tensor<64xi1>) -> tensor<i64>
func.return %result : tensor<i64>
}
// -----
func.func @bitcast_convert_1(%operand: tensor<i64>) -> (tensor<f64>) {
%result = stablehlo.bitcast_convert %operand : (tensor<i64>) -> tensor<f64>
func.return %result : tensor<f64>
}
// -----
func.func @bitcast_convert_2(%operand: tensor<f64>) -> (tensor<64xi1>) {
%result = stablehlo.bitcast_convert %operand : (tensor<f64>) -> tensor<64xi1>
func.return %result : tensor<64xi1>
}
// -----
func.func @bitcast_convert_3(%operand: tensor<complex<f64>>) -> (tensor<2xcomplex<f32>>) {
%result = stablehlo.bitcast_convert %operand : (tensor<complex<f64>>) -> tensor<2xcomplex<f32>>
func.return %result : tensor<2xcomplex<f32>>
}
// -----
func.func @broadcast_in_dim_0(%operand: tensor<3x1xi64>) -> (tensor<3x2x2xi64>) {
%result = "stablehlo.broadcast_in_dim"(%operand) {
broadcast_dimensions = array<i64: 0, 2>
} : (tensor<3x1xi64>) -> tensor<3x2x2xi64>
func.return %result : tensor<3x2x2xi64>
}
// -----
func.func @case_0(%index: tensor<i32>, %result_branch0: tensor<2xi64>, %result_branch1: tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>) {
%result0, %result1 = "stablehlo.case"(%index) ({
stablehlo.return %result_branch0, %result_branch0 : tensor<2xi64>, tensor<2xi64>
}, {
stablehlo.return %result_branch1, %result_branch1 : tensor<2xi64>, tensor<2xi64>
}) : (tensor<i32>) -> (tensor<2xi64>, tensor<2xi64>)
func.return %result0, %result1 : tensor<2xi64>, tensor<2xi64>
}
// -----
func.func @case_1(%index: tensor<i32>, %result_branch0: tensor<2xi64>, %result_branch1: tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>) {
%result0, %result1 = "stablehlo.case"(%index) ({
stablehlo.return %result_branch0, %result_branch0 : tensor<2xi64>, tensor<2xi64>
}, {
stablehlo.return %result_branch1, %result_branch1 : tensor<2xi64>, tensor<2xi64>
}) : (tensor<i32>) -> (tensor<2xi64>, tensor<2xi64>)
func.return %result0, %result1 : tensor<2xi64>, tensor<2xi64>
}
// -----
func.func @case_2(%index: tensor<i32>, %result_branch0: tensor<2xi64>, %result_branch1: tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>) {
%result0, %result1 = "stablehlo.case"(%index) ({
stablehlo.return %result_branch0, %result_branch0 : tensor<2xi64>, tensor<2xi64>
}, {
stablehlo.return %result_branch1, %result_branch1 : tensor<2xi64>, tensor<2xi64>
}) : (tensor<i32>) -> (tensor<2xi64>, tensor<2xi64>)
func.return %result0, %result1 : tensor<2xi64>, tensor<2xi64>
}
// -----
func.func @cbrt_0(%operand: tensor<4xf64>) -> (tensor<4xf64>) {
%result = stablehlo.cbrt %operand : tensor<4xf64>
func.return %result : tensor<4xf64>
}
// -----
func.func @cbrt_1(%operand: tensor<complex<f64>>) -> (tensor<complex<f64>>) {
%result = stablehlo.cbrt %operand : tensor<complex<f64>>
func.return %result : tensor<complex<f64>>
}
// -----
func.func @ceil_0(%0: tensor<9xbf16>) -> (tensor<9xbf16>) {
%1 = stablehlo.ceil %0 : tensor<9xbf16>
func.return %1 : tensor<9xbf16>
}
// -----
func.func @ceil_1(%0: tensor<9xf16>) -> (tensor<9xf16>) {
%1 = stablehlo.ceil %0 : tensor<9xf16>
func.return %1 : tensor<9xf16>
}
// -----
func.func @ceil_2(%0: tensor<9xf32>) -> (tensor<9xf32>) {
%1 = stablehlo.ceil %0 : tensor<9xf32>
func.return %1 : tensor<9xf32>
}
// -----
func.func @ceil_3(%0: tensor<9xf64>) -> (tensor<9xf64>) {
%1 = stablehlo.ceil %0 : tensor<9xf64>
func.return %1 : tensor<9xf64>
}
// -----
func.func @chlo_mulhi_0(%lhs: tensor<3xi8>, %rhs: tensor<3xi8>) -> (tensor<3xi8>) {
%result = "chlo.mulhi"(%lhs, %rhs) : (tensor<3xi8>, tensor<3xi8>) -> tensor<3xi8>
func.return %result : tensor<3xi8>
}
// -----
func.func @chlo_mulhi_1(%lhs: tensor<2xui8>, %rhs: tensor<2xui8>) -> (tensor<2xui8>) {
%result = "chlo.mulhi"(%lhs, %rhs) : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xui8>
func.return %result : tensor<2xui8>
}
// -----
func.func @chlo_mulhi_2(%lhs: tensor<2xi16>, %rhs: tensor<2xi16>) -> (tensor<2xi16>) {
%result = "chlo.mulhi"(%lhs, %rhs) : (tensor<2xi16>, tensor<2xi16>) -> tensor<2xi16>
func.return %result : tensor<2xi16>
}
// -----
func.func @chlo_mulhi_3(%lhs: tensor<2xui16>, %rhs: tensor<2xui16>) -> (tensor<2xui16>) {
%result = "chlo.mulhi"(%lhs, %rhs) : (tensor<2xui16>, tensor<2xui16>) -> tensor<2xui16>
func.return %result : tensor<2xui16>
}
// -----
func.func @chlo_mulhi_4(%lhs: tensor<2xi32>, %rhs: tensor<2xi32>) -> (tensor<2xi32>) {
%result = "chlo.mulhi"(%lhs, %rhs) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
func.return %result : tensor<2xi32>
}
// -----
func.func @chlo_mulhi_5(%lhs: tensor<2xui32>, %rhs: tensor<2xui32>) -> (tensor<2xui32>) {
%result = "chlo.mulhi"(%lhs, %rhs) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
func.return %result : tensor<2xui32>
}
// -----
func.func @chlo_mulhi_6(%lhs: tensor<2xi64>, %rhs: tensor<2xi64>) -> (tensor<2xi64>) {
%result = "chlo.mulhi"(%lhs, %rhs) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
func.return %result : tensor<2xi64>
}
// -----
func.func @chlo_mulhi_7(%lhs: tensor<2xui64>, %rhs: tensor<2xui64>) -> (tensor<2xui64>) {
%result = "chlo.mulhi"(%lhs, %rhs) : (tensor<2xui64>, tensor<2xui64>) -> tensor<2xui64>
func.return %result : tensor<2xui64>
}
// -----
func.func @chlo_ragged_dot_0(%lhs: tensor<11x5xf32>, %rhs: tensor<3x5x7xf32>, %group_sizes: tensor<3xi64>) -> (tensor<11x7xf32>) {
%result = "chlo.ragged_dot"(%lhs, %rhs, %group_sizes) {
ragged_dot_dimension_numbers = #chlo.ragged_dot<
lhs_batching_dimensions = [],
rhs_batching_dimensions = [],
lhs_contracting_dimensions = [1],
rhs_contracting_dimensions = [1],
lhs_ragged_dimensions = [0],
rhs_group_dimensions = [0]
>,
precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>]
} : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
func.return %result : tensor<11x7xf32>
}
// -----
func.func @chlo_ragged_dot_1(%lhs: tensor<2x11x5xf32>, %rhs: tensor<3x2x5x7xf32>, %group_sizes: tensor<3xi64>) -> (tensor<2x11x7xf32>) {
%result = "chlo.ragged_dot"(%lhs, %rhs, %group_sizes) {
ragged_dot_dimension_numbers = #chlo.ragged_dot<
lhs_batching_dimensions = [0],
rhs_batching_dimensions = [1],
lhs_contracting_dimensions = [2],
rhs_contracting_dimensions = [2],
lhs_ragged_dimensions = [1],
rhs_group_dimensions = [0]
>,
precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>]
} : (tensor<2x11x5xf32>, tensor<3x2x5x7xf32>, tensor<3xi64>) -> tensor<2x11x7xf32>
func.return %result : tensor<2x11x7xf32>
}
// -----
func.func @chlo_scan_0(%input: tensor<4xi32>, %init: tensor<i32>) -> (tensor<4xi32>, tensor<i32>) {
%0:2 = chlo.scan(%input) inits(%init) dimension=0 {
^bb0(%scan_arg0: tensor<i32>, %scan_arg1: tensor<i32>):
%1 = stablehlo.add %scan_arg0, %scan_arg1 : tensor<i32>
stablehlo.return %1, %1 : tensor<i32>, tensor<i32>
} : (tensor<4xi32>, tensor<i32>) -> (tensor<4xi32>, tensor<i32>)
func.return %0#0, %0#1 : tensor<4xi32>, tensor<i32>
}
// -----
func.func @chlo_scan_1(%input: tensor<2x3xi32>, %init: tensor<2xi32>) -> (tensor<2x3xi32>, tensor<2xi32>) {
%0:2 = chlo.scan(%input) inits(%init) dimension=1 {
^bb0(%scan_arg0: tensor<2xi32>, %scan_arg1: tensor<2xi32>):
%1 = stablehlo.add %scan_arg0, %scan_arg1 : tensor<2xi32>
stablehlo.return %1, %1 : tensor<2xi32>, tensor<2xi32>
} : (tensor<2x3xi32>, tensor<2xi32>) -> (tensor<2x3xi32>, tensor<2xi32>)
func.return %0#0, %0#1 : tensor<2x3xi32>, tensor<2xi32>
}
// -----
func.func @chlo_scan_2(%input: tensor<5xi32>, %iota: tensor<5xi32>, %val_init: tensor<i32>, %idx_init: tensor<i32>) -> (tensor<5xi32>, tensor<5xi32>, tensor<i32>, tensor<i32>) {
%0:4 = chlo.scan(%input, %iota) inits(%val_init, %idx_init) dimension=0 {
^bb0(%cur_val: tensor<i32>, %cur_idx: tensor<i32>, %run_val: tensor<i32>, %run_idx: tensor<i32>):
%new_val = stablehlo.maximum %run_val, %cur_val : tensor<i32>
%gt = stablehlo.compare GT, %run_val, %cur_val : (tensor<i32>, tensor<i32>) -> tensor<i1>
%eq = stablehlo.compare EQ, %run_val, %cur_val : (tensor<i32>, tensor<i32>) -> tensor<i1>
%max_idx = stablehlo.maximum %run_idx, %cur_idx : tensor<i32>
%tie_or_less = stablehlo.select %eq, %max_idx, %cur_idx : tensor<i1>, tensor<i32>
%new_idx = stablehlo.select %gt, %run_idx, %tie_or_less : tensor<i1>, tensor<i32>
stablehlo.return %new_val, %new_idx, %new_val, %new_idx
: tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>
} : (tensor<5xi32>, tensor<5xi32>, tensor<i32>, tensor<i32>)
-> (tensor<5xi32>, tensor<5xi32>, tensor<i32>, tensor<i32>)
func.return %0#0, %0#1, %0#2, %0#3 : tensor<5xi32>, tensor<5xi32>, tensor<i32>, tensor<i32>
}
// -----
func.func @chlo_scan_3(%input: tensor<4xi32>, %init: tensor<i32>) -> (tensor<4xi32>, tensor<i32>) {
%0:2 = chlo.scan(%input) inits(%init) dimension=0 attributes {is_reverse = true} {
^bb0(%scan_arg0: tensor<i32>, %scan_arg1: tensor<i32>):
%1 = stablehlo.add %scan_arg0, %scan_arg1 : tensor<i32>
stablehlo.return %1, %1 : tensor<i32>, tensor<i32>
} : (tensor<4xi32>, tensor<i32>) -> (tensor<4xi32>, tensor<i32>)
func.return %0#0, %0#1 : tensor<4xi32>, tensor<i32>
}
// -----
func.func @clamp_0(%min: tensor<3xi64>, %operand: tensor<3xi64>, %max: tensor<3xi64>) -> (tensor<3xi64>) {
%result = stablehlo.clamp %min, %operand, %max : (tensor<3xi64>, tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
func.return %result : tensor<3xi64>
}
// -----
func.func @clamp_1(%min: tensor<3xi64>, %operand: tensor<3xi64>, %max: tensor<i64>) -> (tensor<3xi64>) {
%result = stablehlo.clamp %min, %operand, %max : (tensor<3xi64>, tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
func.return %result : tensor<3xi64>
}
// -----
func.func @clamp_2(%min: tensor<i64>, %operand: tensor<3xi64>, %max: tensor<3xi64>) -> (tensor<3xi64>) {
%result = stablehlo.clamp %min, %operand, %max : (tensor<i64>, tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
func.return %result : tensor<3xi64>
}
// -----
func.func @clamp_3(%min: tensor<i64>, %operand: tensor<3xi64>, %max: tensor<i64>) -> (tensor<3xi64>) {
%result = stablehlo.clamp %min, %operand, %max : (tensor<i64>, tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
func.return %result : tensor<3xi64>
}
// -----
func.func @compare_0(%lhs: tensor<i64>, %rhs: tensor<i64>) -> (tensor<i1>) {
%result = stablehlo.compare EQ, %lhs, %rhs : (tensor<i64>, tensor<i64>) -> tensor<i1>
func.return %result : tensor<i1>
}
// -----
func.func @compare_1(%lhs: tensor<5xi64>, %rhs: tensor<5xi64>) -> (tensor<5xi1>) {
%result = stablehlo.compare EQ, %lhs, %rhs, SIGNED : (tensor<5xi64>, tensor<5xi64>) -> tensor<5xi1>
func.return %result : tensor<5xi1>
}
// -----
func.func @compare_2(%lhs: tensor<5xi64>, %rhs: tensor<5xi64>) -> (tensor<5xi1>) {
%result = stablehlo.compare NE, %lhs, %rhs, SIGNED : (tensor<5xi64>, tensor<5xi64>) -> tensor<5xi1>
func.return %result : tensor<5xi1>
}
// -----
func.func @compare_3(%lhs: tensor<5xi64>, %rhs: tensor<5xi64>) -> (tensor<5xi1>) {
%result = stablehlo.compare GE, %lhs, %rhs, SIGNED : (tensor<5xi64>, tensor<5xi64>) -> tensor<5xi1>
func.return %result : tensor<5xi1>
}
// -----
func.func @compare_4(%lhs: tensor<5xi64>, %rhs: tensor<5xi64>) -> (tensor<5xi1>) {
%result = stablehlo.compare GT, %lhs, %rhs, SIGNED : (tensor<5xi64>, tensor<5xi64>) -> tensor<5xi1>
func.return %result : tensor<5xi1>
}
// -----
func.func @compare_5(%lhs: tensor<5xi64>, %rhs: tensor<5xi64>) -> (tensor<5xi1>) {
%result = stablehlo.compare LE, %lhs, %rhs, SIGNED : (tensor<5xi64>, tensor<5xi64>) -> tensor<5xi1>
func.return %result : tensor<5xi1>
}
// -----
func.func @compare_6(%lhs: tensor<5xi64>, %rhs: tensor<5xi64>) -> (tensor<5xi1>) {
%result = stablehlo.compare LT, %lhs, %rhs, SIGNED : (tensor<5xi64>, tensor<5xi64>) -> tensor<5xi1>
func.return %result : tensor<5xi1>
}
// -----
func.func @compare_7(%lhs: tensor<ui64>, %rhs: tensor<ui64>) -> (tensor<i1>) {
%result = stablehlo.compare EQ, %lhs, %rhs : (tensor<ui64>, tensor<ui64>) -> tensor<i1>
func.return %result : tensor<i1>
}
// -----
func.func @compare_8(%lhs: tensor<2xui64>, %rhs: tensor<2xui64>) -> (tensor<2xi1>) {
%result = stablehlo.compare EQ, %lhs, %rhs, UNSIGNED : (tensor<2xui64>, tensor<2xui64>) -> tensor<2xi1>
func.return %result : tensor<2xi1>
}
// -----
func.func @compare_9(%lhs: tensor<2xui64>, %rhs: tensor<2xui64>) -> (tensor<2xi1>) {
%result = stablehlo.compare NE, %lhs, %rhs, UNSIGNED : (tensor<2xui64>, tensor<2xui64>) -> tensor<2xi1>
func.return %result : tensor<2xi1>
}
// -----
func.func @compare_10(%lhs: tensor<2xui64>, %rhs: tensor<2xui64>) -> (tensor<2xi1>) {
%result = stablehlo.compare GE, %lhs, %rhs, UNSIGNED : (tensor<2xui64>, tensor<2xui64>) -> tensor<2xi1>
func.return %result : tensor<2xi1>
}
// -----
func.func @compare_11(%lhs: tensor<2xui64>, %rhs: tensor<2xui64>) -> (tensor<2xi1>) {
%result = stablehlo.compare GT, %lhs, %rhs, UNSIGNED : (tensor<2xui64>, tensor<2xui64>) -> tensor<2xi1>
func.return %result : tensor<2xi1>
}
// -----
func.func @compare_12(%lhs: tensor<2xui64>, %rhs: tensor<2xui64>) -> (tensor<2xi1>) {
%result = stablehlo.compare LE, %lhs, %rhs, UNSIGNED : (tensor<2xui64>, tensor<2xui64>) -> tensor<2xi1>
func.return %result : tensor<2xi1>
}
// -----
func.func @compare_13(%lhs: tensor<2xui64>, %rhs: tensor<2xui64>) -> (tensor<2xi1>) {
%result = stablehlo.compare LT, %lhs, %rhs, UNSIGNED : (tensor<2xui64>, tensor<2xui64>) -> tensor<2xi1>
func.return %result : tensor<2xi1>
}
// -----
func.func @compare_14(%lhs: tensor<i1>, %rhs: tensor<i1>) -> (tensor<i1>) {
%result = stablehlo.compare EQ, %lhs, %rhs : (tensor<i1>, tensor<i1>) -> tensor<i1>
func.return %result : tensor<i1>
}
// -----
func.func @compare_15(%lhs: tensor<4xi1>, %rhs: tensor<4xi1>) -> (tensor<4xi1>) {
%result = stablehlo.compare EQ, %lhs, %rhs, UNSIGNED : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
func.return %result : tensor<4xi1>
}
// -----
func.func @compare_16(%lhs: tensor<4xi1>, %rhs: tensor<4xi1>) -> (tensor<4xi1>) {
%result = stablehlo.compare NE, %lhs, %rhs, UNSIGNED : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
func.return %result : tensor<4xi1>
}
// -----
func.func @compare_17(%lhs: tensor<4xi1>, %rhs: tensor<4xi1>) -> (tensor<4xi1>) {
%result = stablehlo.compare GE, %lhs, %rhs, UNSIGNED : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
func.return %result : tensor<4xi1>
}
// -----
func.func @compare_18(%lhs: tensor<4xi1>, %rhs: tensor<4xi1>) -> (tensor<4xi1>) {
%result = stablehlo.compare GT, %lhs, %rhs, UNSIGNED : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
func.return %result : tensor<4xi1>
}
// -----
func.func @compare_19(%lhs: tensor<4xi1>, %rhs: tensor<4xi1>) -> (tensor<4xi1>) {
%result = stablehlo.compare LE, %lhs, %rhs, UNSIGNED : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
func.return %result : tensor<4xi1>
}
// -----
func.func @compare_20(%lhs: tensor<4xi1>, %rhs: tensor<4xi1>) -> (tensor<4xi1>) {
%result = stablehlo.compare LT, %lhs, %rhs, UNSIGNED : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
func.return %result : tensor<4xi1>
}
// -----
func.func @compare_21(%lhs: tensor<f64>, %rhs: tensor<f64>) -> (tensor<i1>) {
%result = stablehlo.compare EQ, %lhs, %rhs : (tensor<f64>, tensor<f64>) -> tensor<i1>
func.return %result : tensor<i1>
}
// -----
func.func @compare_22(%lhs: tensor<14xf64>, %rhs: tensor<14xf64>) -> (tensor<14xi1>) {
%result = stablehlo.compare EQ, %lhs, %rhs, FLOAT : (tensor<14xf64>, tensor<14xf64>) -> tensor<14xi1>
func.return %result : tensor<14xi1>
}
// -----
func.func @compare_23(%lhs: tensor<14xf64>, %rhs: tensor<14xf64>) -> (tensor<14xi1>) {
%result = stablehlo.compare NE, %lhs, %rhs, FLOAT : (tensor<14xf64>, tensor<14xf64>) -> tensor<14xi1>
func.return %result : tensor<14xi1>
}
// -----
func.func @compare_24(%lhs: tensor<14xf64>, %rhs: tensor<14xf64>) -> (tensor<14xi1>) {
%result = stablehlo.compare GE, %lhs, %rhs, FLOAT : (tensor<14xf64>, tensor<14xf64>) -> tensor<14xi1>
func.return %result : tensor<14xi1>
}
// -----
func.func @compare_25(%lhs: tensor<14xf64>, %rhs: tensor<14xf64>) -> (tensor<14xi1>) {
%result = stablehlo.compare GT, %lhs, %rhs, FLOAT : (tensor<14xf64>, tensor<14xf64>) -> tensor<14xi1>
func.return %result : tensor<14xi1>
}
// -----
func.func @compare_26(%lhs: tensor<14xf64>, %rhs: tensor<14xf64>) -> (tensor<14xi1>) {
%result = stablehlo.compare LE, %lhs, %rhs, FLOAT : (tensor<14xf64>, tensor<14xf64>) -> tensor<14xi1>
func.return %result : tensor<14xi1>
}
// -----
func.func @compare_27(%lhs: tensor<14xf64>, %rhs: tensor<14xf64>) -> (tensor<14xi1>) {
%result = stablehlo.compare LT, %lhs, %rhs, FLOAT : (tensor<14xf64>, tensor<14xf64>) -> tensor<14xi1>
func.return %result : tensor<14xi1>
}
// -----
func.func @compare_28(%lhs: tensor<complex<f64>>, %rhs: tensor<complex<f64>>) -> (tensor<i1>) {
%result = stablehlo.compare EQ, %lhs, %rhs : (tensor<complex<f64>>, tensor<complex<f64>>) -> tensor<i1>
func.return %result : tensor<i1>
}
// -----
func.func @compare_29(%lhs: tensor<4xcomplex<f64>>, %rhs: tensor<4xcomplex<f64>>) -> (tensor<4xi1>) {
%result = stablehlo.compare EQ, %lhs, %rhs, FLOAT : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> tensor<4xi1>
func.return %result : tensor<4xi1>
}
// -----
func.func @compare_30(%lhs: tensor<4xcomplex<f64>>, %rhs: tensor<4xcomplex<f64>>) -> (tensor<4xi1>) {
%result = stablehlo.compare NE, %lhs, %rhs, FLOAT : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> tensor<4xi1>
func.return %result : tensor<4xi1>
}
// -----
func.func @complex_0(%lhs: tensor<2xf64>, %rhs: tensor<2xf64>) -> (tensor<2xcomplex<f64>>) {
%result = stablehlo.complex %lhs, %rhs : tensor<2xcomplex<f64>>
func.return %result : tensor<2xcomplex<f64>>
}
// -----
func.func @concatenate_0(%input0: tensor<3x2xi64>, %input1: tensor<1x2xi64>) -> (tensor<4x2xi64>) {
%result = stablehlo.concatenate %input0, %input1, dim = 0 : (tensor<3x2xi64>, tensor<1x2xi64>) -> tensor<4x2xi64>
func.return %result : tensor<4x2xi64>
}
// -----
func.func @constant_0() -> (tensor<4xi2>) {
%0 = stablehlo.constant dense<[-2, -1, 0, 1]> : tensor<4xi2>
func.return %0 : tensor<4xi2>
}
// -----
func.func @constant_1() -> (tensor<4xui2>) {
%0 = stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xui2>
func.return %0 : tensor<4xui2>
}
// -----
func.func @constant_2() -> (tensor<5xi4>) {
%0 = stablehlo.constant dense<[-8, -1, 0, 1, 7]> : tensor<5xi4>
func.return %0 : tensor<5xi4>
}
// -----
func.func @constant_3() -> (tensor<3xui4>) {
%0 = stablehlo.constant dense<[0, 8, 15]> : tensor<3xui4>
func.return %0 : tensor<3xui4>
}
// -----
func.func @constant_4() -> (tensor<5xi8>) {
%0 = stablehlo.constant dense<[-128, -9, 0, 8, 127]> : tensor<5xi8>
func.return %0 : tensor<5xi8>
}
// -----
func.func @constant_5() -> (tensor<3xui8>) {
%0 = stablehlo.constant dense<[0, 16, 255]> : tensor<3xui8>
func.return %0 : tensor<3xui8>
}
// -----
func.func @constant_6() -> (tensor<5xi16>) {
%0 = stablehlo.constant dense<[-32768, -129, 0, 128, 32767]> : tensor<5xi16>
func.return %0 : tensor<5xi16>
}
// -----
func.func @constant_7() -> (tensor<3xui16>) {
%0 = stablehlo.constant dense<[0, 256, 65535]> : tensor<3xui16>
func.return %0 : tensor<3xui16>
}
// -----
func.func @constant_8() -> (tensor<5xi32>) {
%0 = stablehlo.constant dense<[-2147483648, -65537, 0, 65536, 2147483647]> : tensor<5xi32>
func.return %0 : tensor<5xi32>
}
// -----
func.func @constant_9() -> (tensor<3xui32>) {
%0 = stablehlo.constant dense<[0, 65536, 4294967295]> : tensor<3xui32>
func.return %0 : tensor<3xui32>
}
// -----
func.func @constant_10() -> (tensor<5xi64>) {
%0 = stablehlo.constant dense<[-9223372036854775808, -2147483649, 0, 2147483648, 9223372036854775807]> : tensor<5xi64>
func.return %0 : tensor<5xi64>
}
// -----
func.func @constant_11() -> (tensor<3xui64>) {
%0 = stablehlo.constant dense<[0, 4294967296, 18446744073709551615]> : tensor<3xui64>
func.return %0 : tensor<3xui64>
}
// -----
func.func @constant_12() -> (tensor<10xf4E2M1FN>) {
%0 = stablehlo.constant dense<[0.0, -0.0, 1.0, 0.125, 0.1, 3.1415, 0x07, 0x0F, 0x01, 0x09]> : tensor<10xf4E2M1FN>
func.return %0 : tensor<10xf4E2M1FN>
}
// -----
func.func @constant_13() -> (tensor<10xf6E2M3FN>) {
%0 = stablehlo.constant dense<[0.0, -0.0, 1.0, 0.125, 0.1, 3.1415, 0x1F, 0x3F, 0x01, 0x21]> : tensor<10xf6E2M3FN>
func.return %0 : tensor<10xf6E2M3FN>
}
// -----
func.func @constant_14() -> (tensor<10xf6E3M2FN>) {
%0 = stablehlo.constant dense<[0.0, -0.0, 1.0, 0.125, 0.1, 3.1415, 0x1F, 0x3F, 0x01, 0x21]> : tensor<10xf6E3M2FN>
func.return %0 : tensor<10xf6E3M2FN>
}
// -----
func.func @constant_15() -> (tensor<10xf8E3M4>) {
%0 = stablehlo.constant dense<[0.0, -0.0, 1.0, 0.125, 0.1, 3.1415, 0x7F, 0xFF, 0x01, 0x81]> : tensor<10xf8E3M4>
func.return %0 : tensor<10xf8E3M4>
}
// -----
func.func @constant_16() -> (tensor<10xf8E4M3B11FNUZ>) {
%0 = stablehlo.constant dense<[0.0, -0.0, 1.0, 0.125, 0.1, 3.1415, 0x7F, 0xFF, 0x01, 0x81]> : tensor<10xf8E4M3B11FNUZ>
func.return %0 : tensor<10xf8E4M3B11FNUZ>
}
// -----
func.func @constant_17() -> (tensor<10xf8E4M3>) {
%0 = stablehlo.constant dense<[0.0, -0.0, 1.0, 0.125, 0.1, 3.1415, 0x7F, 0xFF, 0x01, 0x81]> : tensor<10xf8E4M3>
func.return %0 : tensor<10xf8E4M3>
}
// -----
func.func @constant_18() -> (tensor<10xf8E4M3FN>) {
%0 = stablehlo.constant dense<[0.0, -0.0, 1.0, 0.125, 0.1, 3.1415, 0x7F, 0xFF, 0x01, 0x81]> : tensor<10xf8E4M3FN>
func.return %0 : tensor<10xf8E4M3FN>
}
// -----
func.func @constant_19() -> (tensor<10xf8E4M3FNUZ>) {
%0 = stablehlo.constant dense<[0.0, -0.0, 1.0, 0.125, 0.1, 3.1415, 0x7F, 0xFF, 0x01, 0x81]> : tensor<10xf8E4M3FNUZ>
func.return %0 : tensor<10xf8E4M3FNUZ>
}
// -----
func.func @constant_20() -> (tensor<10xf8E5M2>) {
%0 = stablehlo.constant dense<[0.0, -0.0, 1.0, 0.125, 0.1, 3.1415, 0x7F, 0xFF, 0x01, 0x81]> : tensor<10xf8E5M2>
func.return %0 : tensor<10xf8E5M2>
}
// -----
func.func @constant_21() -> (tensor<10xf8E5M2FNUZ>) {
%0 = stablehlo.constant dense<[0.0, -0.0, 1.0, 0.125, 0.1, 3.1415, 0x7F, 0xFF, 0x01, 0x81]> : tensor<10xf8E5M2FNUZ>
func.return %0 : tensor<10xf8E5M2FNUZ>
}
// -----
func.func @constant_22() -> (tensor<10xf8E5M2FNUZ>) {
%0 = stablehlo.constant dense<[0.0, -0.0, 1.0, 0.125, 0.1, 3.1415, 0x7F, 0xFF, 0x01, 0x81]> : tensor<10xf8E5M2FNUZ>
func.return %0 : tensor<10xf8E5M2FNUZ>
}
// -----
func.func @constant_24() -> (tensor<11xbf16>) {
%0 = stablehlo.constant dense<[0.0, -0.0, 1.0, 0.125, 0.1, 3.140630, 0x7F80, 0xFF80, 0x7FFF, 0x0001, 0x8001]> : tensor<11xbf16>
func.return %0 : tensor<11xbf16>
}
// -----
func.func @constant_25() -> (tensor<11xf16>) {
%0 = stablehlo.constant dense<[0.0, -0.0, 1.0, 0.125, 0.1, 3.140630, 0x7C00, 0xFC00, 0x7FFF, 0x0001, 0x8001]> : tensor<11xf16>
func.return %0 : tensor<11xf16>
}
// -----
func.func @constant_26() -> (tensor<11xf32>) {
%0 = stablehlo.constant dense<[0.0, -0.0, 1.0, 0.125, 0.1, 3.14159274, 0x7F800000, 0xFF800000, 0x7FFFFFFF, 0x00000001, 0x80000001]> : tensor<11xf32>
func.return %0 : tensor<11xf32>
}
// -----
func.func @constant_27() -> (tensor<11xf64>) {
%0 = stablehlo.constant dense<[0.0, -0.0, 1.0, 0.125, 0.1, 3.1415926535897931, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FFFFFFFFFFFFFFF, 0x0000000000000001, 0x8000000000000001]> : tensor<11xf64>
func.return %0 : tensor<11xf64>
}
// -----
func.func @constant_28() -> (tensor<2xcomplex<f32>>) {
%0 = stablehlo.constant dense<[(1.5, 2.5), (3.5, 4.5)]> : tensor<2xcomplex<f32>>
func.return %0 : tensor<2xcomplex<f32>>
}
// -----
func.func @constant_29() -> (tensor<2xcomplex<f64>>) {
%0 = stablehlo.constant dense<[(1.5, 2.5), (3.5, 4.5)]> : tensor<2xcomplex<f64>>
func.return %0 : tensor<2xcomplex<f64>>
}
// -----
func.func @convert_0(%operand: tensor<2xi1>) -> (tensor<2xi1>) {
%result = stablehlo.convert %operand : (tensor<2xi1>) -> tensor<2xi1>
func.return %result : tensor<2xi1>
}
// -----
func.func @convert_1(%operand: tensor<2xi1>) -> (tensor<2xi64>) {
%result = stablehlo.convert %operand : (tensor<2xi1>) -> tensor<2xi64>
func.return %result : tensor<2xi64>
}
// -----
func.func @convert_2(%operand: tensor<2xi1>) -> (tensor<2xui64>) {
%result = stablehlo.convert %operand : (tensor<2xi1>) -> tensor<2xui64>
func.return %result : tensor<2xui64>
}
// -----
func.func @convert_3(%operand: tensor<2xi1>) -> (tensor<2xf64>) {
%result = stablehlo.convert %operand : (tensor<2xi1>) -> tensor<2xf64>
func.return %result : tensor<2xf64>
}
// -----
func.func @convert_4(%operand: tensor<2xi1>) -> (tensor<2xcomplex<f64>>) {
%result = stablehlo.convert %operand : (tensor<2xi1>) -> tensor<2xcomplex<f64>>
func.return %result : tensor<2xcomplex<f64>>
}
// -----
func.func @convert_5(%operand: tensor<3xi64>) -> (tensor<3xi1>) {
%result = stablehlo.convert %operand : (tensor<3xi64>) -> tensor<3xi1>
func.return %result : tensor<3xi1>
}
// -----
func.func @convert_6(%operand: tensor<3xi64>) -> (tensor<3xi64>) {
%result = stablehlo.convert %operand : (tensor<3xi64>) -> tensor<3xi64>
func.return %result : tensor<3xi64>
}
// -----
func.func @convert_7(%operand: tensor<2xi4>) -> (tensor<2xui64>) {
%result = stablehlo.convert %operand : (tensor<2xi4>) -> tensor<2xui64>
func.return %result : tensor<2xui64>
}
// -----
func.func @convert_8(%operand: tensor<3xi64>) -> (tensor<3xf64>) {
%result = stablehlo.convert %operand : (tensor<3xi64>) -> tensor<3xf64>
func.return %result : tensor<3xf64>
}
// -----
func.func @convert_9(%operand: tensor<3xi4>) -> (tensor<3xcomplex<f64>>) {
%result = stablehlo.convert %operand : (tensor<3xi4>) -> tensor<3xcomplex<f64>>
func.return %result : tensor<3xcomplex<f64>>
}
// -----
func.func @convert_10(%operand: tensor<2xui64>) -> (tensor<2xi1>) {
%result = stablehlo.convert %operand : (tensor<2xui64>) -> tensor<2xi1>
func.return %result : tensor<2xi1>
}
// -----
func.func @convert_11(%operand: tensor<2xui64>) -> (tensor<2xi64>) {
%result = stablehlo.convert %operand : (tensor<2xui64>) -> tensor<2xi64>
func.return %result : tensor<2xi64>
}
// -----
func.func @convert_12(%operand: tensor<2xui4>) -> (tensor<2xui64>) {
%result = stablehlo.convert %operand : (tensor<2xui4>) -> tensor<2xui64>
func.return %result : tensor<2xui64>
}
// -----
func.func @convert_13(%operand: tensor<2xui64>) -> (tensor<2xf64>) {
%result = stablehlo.convert %operand : (tensor<2xui64>) -> tensor<2xf64>
func.return %result : tensor<2xf64>
}
// -----
func.func @convert_14(%operand: tensor<2xui4>) -> (tensor<2xcomplex<f64>>) {
%result = stablehlo.convert %operand : (tensor<2xui4>) -> tensor<2xcomplex<f64>>
func.return %result : tensor<2xcomplex<f64>>
}
// -----
func.func @convert_15(%operand: tensor<3xf64>) -> (tensor<3xi1>) {
%result = stablehlo.convert %operand : (tensor<3xf64>) -> tensor<3xi1>
func.return %result : tensor<3xi1>
}
// -----
func.func @convert_16(%operand: tensor<3xf64>) -> (tensor<3xi64>) {
%result = stablehlo.convert %operand : (tensor<3xf64>) -> tensor<3xi64>
func.return %result : tensor<3xi64>
}
// -----
func.func @convert_17(%operand: tensor<2xf64>) -> (tensor<2xui64>) {
%result = stablehlo.convert %operand : (tensor<2xf64>) -> tensor<2xui64>
func.return %result : tensor<2xui64>
}
// -----
func.func @convert_18(%operand: tensor<3xf64>) -> (tensor<3xf64>) {
%result = stablehlo.convert %operand : (tensor<3xf64>) -> tensor<3xf64>
func.return %result : tensor<3xf64>
}
// -----
func.func @convert_19(%operand: tensor<3xf64>) -> (tensor<3xcomplex<f64>>) {
%result = stablehlo.convert %operand : (tensor<3xf64>) -> tensor<3xcomplex<f64>>
func.return %result : tensor<3xcomplex<f64>>
}
// -----
func.func @convert_20(%operand: tensor<3xcomplex<f64>>) -> (tensor<3xi1>) {
%result = stablehlo.convert %operand : (tensor<3xcomplex<f64>>) -> tensor<3xi1>
func.return %result : tensor<3xi1>
}
// -----
func.func @convert_21(%operand: tensor<3xcomplex<f64>>) -> (tensor<3xi64>) {
%result = stablehlo.convert %operand : (tensor<3xcomplex<f64>>) -> tensor<3xi64>
func.return %result : tensor<3xi64>
}
// -----
func.func @convert_22(%operand: tensor<2xcomplex<f64>>) -> (tensor<2xui64>) {
%result = stablehlo.convert %operand : (tensor<2xcomplex<f64>>) -> tensor<2xui64>
func.return %result : tensor<2xui64>
}
// -----
func.func @convert_23(%operand: tensor<3xcomplex<f64>>) -> (tensor<3xf64>) {
%result = stablehlo.convert %operand : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
func.return %result : tensor<3xf64>
}
// -----
func.func @convert_24(%operand: tensor<3xcomplex<f64>>) -> (tensor<3xcomplex<f64>>) {
%result = stablehlo.convert %operand : (tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>
func.return %result : tensor<3xcomplex<f64>>
}
// -----
func.func @convolution_0(%lhs: tensor<1x4x4x1xi64>, %rhs: tensor<3x3x1x1xi64>) -> (tensor<1x2x2x1xi64>) {
%result = stablehlo.convolution(%lhs, %rhs)
dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
window = {
stride = [4, 4],
lhs_dilate = [2, 2]
} {
batch_group_count = 1 : i64,
feature_group_count = 1 : i64,
precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]
}
: (tensor<1x4x4x1xi64>, tensor<3x3x1x1xi64>) -> tensor<1x2x2x1xi64>
func.return %result : tensor<1x2x2x1xi64>
}
// -----
func.func @convolution_1(%lhs: tensor<1x4x4x1xi8>, %rhs: tensor<3x3x1x1xi8>) -> (tensor<1x2x2x1xi32>) {
%result = stablehlo.convolution(%lhs, %rhs)
dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
window = {
stride = [4, 4],
lhs_dilate = [2, 2]
} {
batch_group_count = 1 : i64,
feature_group_count = 1 : i64,
precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]
}
: (tensor<1x4x4x1xi8>, tensor<3x3x1x1xi8>) -> tensor<1x2x2x1xi32>
func.return %result : tensor<1x2x2x1xi32>
}
// -----
func.func @convolution_2(%lhs: tensor<1x4x4x1xi64>, %rhs: tensor<3x3x1x1xi64>) -> (tensor<1x2x2x1xi64>) {
%result = stablehlo.convolution(%lhs, %rhs)
dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
window = {
stride = [4, 4],
pad = [[1, 1], [1, 1]],
lhs_dilate = [2, 2]
} {
batch_group_count = 1 : i64,
feature_group_count = 1 : i64,
precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]
}
: (tensor<1x4x4x1xi64>, tensor<3x3x1x1xi64>) -> tensor<1x2x2x1xi64>
func.return %result : tensor<1x2x2x1xi64>
}
// -----
func.func @convolution_3(%lhs: tensor<1x4x4x1xi64>, %rhs: tensor<1x2x1x4xi64>) -> (tensor<1x1x2x4xi64>) {
%result = stablehlo.convolution(%lhs, %rhs)
dim_numbers = [0, b, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
window = {
stride = [4, 4],
lhs_dilate = [2, 2]
} {
batch_group_count = 4 : i64,
feature_group_count = 1 : i64,
precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]
}
: (tensor<1x4x4x1xi64>, tensor<1x2x1x4xi64>) -> tensor<1x1x2x4xi64>
func.return %result : tensor<1x1x2x4xi64>
}
// -----
func.func @convolution_4(%lhs: tensor<1x4x4x1xi64>, %rhs: tensor<1x2x1x4xi64>) -> (tensor<1x2x1x4xi64>) {
%result = stablehlo.convolution(%lhs, %rhs)
dim_numbers = [b, 0, f, 1]x[0, i, 1, o]->[b, 0, 1, f],
window = {
stride = [4, 4],
lhs_dilate = [2, 2]
} {
batch_group_count = 1 : i64,
feature_group_count = 2 : i64,
precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]
}
: (tensor<1x4x4x1xi64>, tensor<1x2x1x4xi64>) -> tensor<1x2x1x4xi64>
func.return %result : tensor<1x2x1x4xi64>
}
// -----
func.func @cosine_0(%0: tensor<11xbf16>) -> (tensor<11xbf16>) {
%1 = stablehlo.cosine %0 : tensor<11xbf16>
func.return %1 : tensor<11xbf16>
}
// -----
func.func @cosine_1(%0: tensor<11xf16>) -> (tensor<11xf16>) {
%1 = stablehlo.cosine %0 : tensor<11xf16>
func.return %1 : tensor<11xf16>
}
// -----
func.func @cosine_2(%0: tensor<11xf32>) -> (tensor<11xf32>) {
%1 = stablehlo.cosine %0 : tensor<11xf32>
func.return %1 : tensor<11xf32>
}
// -----
func.func @cosine_3(%0: tensor<11xf64>) -> (tensor<11xf64>) {
%1 = stablehlo.cosine %0 : tensor<11xf64>
func.return %1 : tensor<11xf64>
}
// -----
func.func @cosine_4(%0: tensor<2xcomplex<f32>>) -> (tensor<2xcomplex<f32>>) {
%1 = stablehlo.cosine %0 : tensor<2xcomplex<f32>>
func.return %1 : tensor<2xcomplex<f32>>
}
// -----
func.func @cosine_5(%0: tensor<2xcomplex<f64>>) -> (tensor<2xcomplex<f64>>) {
%1 = stablehlo.cosine %0 : tensor<2xcomplex<f64>>
func.return %1 : tensor<2xcomplex<f64>>
}
// -----
func.func @count_leading_zeros_0(%operand: tensor<2x2xi64>) -> (tensor<2x2xi64>) {
%result = stablehlo.count_leading_zeros %operand : tensor<2x2xi64>
func.return %result : tensor<2x2xi64>
}
// -----
func.func @divide_0(%lhs: tensor<4xi64>, %rhs: tensor<4xi64>) -> (tensor<4xi64>) {
%result = stablehlo.divide %lhs, %rhs : tensor<4xi64>
func.return %result : tensor<4xi64>
}
// -----
func.func @divide_1(%lhs: tensor<4xui64>, %rhs: tensor<4xui64>) -> (tensor<4xui64>) {
%result = stablehlo.divide %lhs, %rhs : tensor<4xui64>
func.return %result : tensor<4xui64>
}
// -----
func.func @divide_2(%lhs: tensor<4xf64>, %rhs: tensor<4xf64>) -> (tensor<4xf64>) {
%result = stablehlo.divide %lhs, %rhs : tensor<4xf64>
func.return %result : tensor<4xf64>
}
// -----
func.func @divide_3(%lhs: tensor<2xcomplex<f64>>, %rhs: tensor<2xcomplex<f64>>) -> (tensor<2xcomplex<f64>>) {
%result = stablehlo.divide %lhs, %rhs : tensor<2xcomplex<f64>>
func.return %result : tensor<2xcomplex<f64>>
}
// -----
func.func @dot_general_0(%lhs: tensor<2x2x2xi64>, %rhs: tensor<2x2x2xi64>) -> (tensor<2x2x2xi64>) {
%result = stablehlo.dot_general %lhs, %rhs,
batching_dims = [0] x [0],
contracting_dims = [2] x [1],
precision = [DEFAULT, DEFAULT]
: (tensor<2x2x2xi64>, tensor<2x2x2xi64>) -> tensor<2x2x2xi64>
func.return %result : tensor<2x2x2xi64>
}
// -----
func.func @dot_general_1(%lhs: tensor<2x2x2xi64>, %rhs: tensor<2x2x2xi64>) -> (tensor<2x2x2xi64>) {
%result = stablehlo.dot_general %lhs, %rhs,
batching_dims = [0] x [0],
contracting_dims = [2] x [1],
precision = [DEFAULT, DEFAULT],
algorithm = <
lhs_precision_type = tf32,
rhs_precision_type = tf32,
accumulation_type = f32,
lhs_component_count = 1,
rhs_component_count = 1,
num_primitive_operations = 1,
allow_imprecise_accumulation = false
> : (tensor<2x2x2xi64>, tensor<2x2x2xi64>) -> tensor<2x2x2xi64>
func.return %result : tensor<2x2x2xi64>
}
// -----
func.func @dot_general_2(%lhs: tensor<2x2xi64>, %rhs: tensor<2x2xi64>) -> (tensor<2x2x2x2xi64>) {
%result = stablehlo.dot_general %lhs, %rhs,
batching_dims = [] x [],
contracting_dims = [] x [],
precision = [DEFAULT, DEFAULT]
: (tensor<2x2xi64>, tensor<2x2xi64>) -> tensor<2x2x2x2xi64>
func.return %result : tensor<2x2x2x2xi64>
}
// -----
func.func @dot_general_3(%lhs: tensor<2x2x2xf32>, %rhs: tensor<2x2x2xf32>) -> (tensor<2x2x2xf64>) {
%result = stablehlo.dot_general %lhs, %rhs,
batching_dims = [0] x [0],
contracting_dims = [2] x [1]
: (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x2x2xf64>
func.return %result : tensor<2x2x2xf64>
}
// -----
func.func @dot_general_4(%0: tensor<4xf8E3M4>) -> (tensor<f8E3M4>) {
%result = stablehlo.dot_general %0, %0,
contracting_dims = [0] x [0]
: (tensor<4xf8E3M4>, tensor<4xf8E3M4>) -> tensor<f8E3M4>
func.return %result : tensor<f8E3M4>
}
// -----
func.func @dot_general_5(%0: tensor<8xf8E4M3>) -> (tensor<f8E4M3>) {
%result = stablehlo.dot_general %0, %0,
contracting_dims = [0] x [0]
: (tensor<8xf8E4M3>, tensor<8xf8E4M3>) -> tensor<f8E4M3>
func.return %result : tensor<f8E4M3>
}
// -----
func.func @dynamic_broadcast_in_dim_0(%operand: tensor<3x1xi64>, %output_dimensions: tensor<3xi64>) -> (tensor<3x2x2xi64>) {
%result = "stablehlo.dynamic_broadcast_in_dim"(%operand, %output_dimensions) {
broadcast_dimensions = array<i64: 0, 2>,
known_expanding_dimensions = array<i64: 1>,
known_nonexpanding_dimensions = array<i64: 0>
} : (tensor<3x1xi64>, tensor<3xi64>) -> tensor<3x2x2xi64>
func.return %result : tensor<3x2x2xi64>
}
// -----
func.func @dynamic_conv_0(%lhs: tensor<1x4x4x1xi64>, %rhs: tensor<3x3x1x1xi64>, %padding: tensor<2x2xi64>) -> (tensor<1x2x2x1xi64>) {
%result = "stablehlo.dynamic_conv"(%lhs, %rhs, %padding) {
window_strides = array<i64: 4, 4>,
lhs_dilation = array<i64: 2, 2>,
rhs_dilation = array<i64: 1, 1>,
window_reversal = array<i1: false, false>,
dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>,
batch_group_count = 1 : i64,
feature_group_count = 1 : i64,
precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]
} : (tensor<1x4x4x1xi64>, tensor<3x3x1x1xi64>, tensor<2x2xi64>) -> tensor<1x2x2x1xi64>
func.return %result : tensor<1x2x2x1xi64>
}
// -----
func.func @dynamic_gather_0(%operand: tensor<3x4x2xi64>, %start_indices: tensor<2x3x2xi64>, %slice_sizes: tensor<3xi64>) -> (tensor<2x3x2x2xi64>) {
%result = "stablehlo.dynamic_gather"(%operand, %start_indices, %slice_sizes) {
dimension_numbers = #stablehlo.gather<
offset_dims = [2, 3],
collapsed_slice_dims = [0],
start_index_map = [1, 0],
index_vector_dim = 2>,
indices_are_sorted = false
} : (tensor<3x4x2xi64>, tensor<2x3x2xi64>, tensor<3xi64>) -> tensor<2x3x2x2xi64>
func.return %result : tensor<2x3x2x2xi64>
}
// -----
func.func @dynamic_iota_0(%output_shape: tensor<2xi64>) -> (tensor<3x4xi64>) {
%0 = stablehlo.dynamic_iota %output_shape, dim = 0 : (tensor<2xi64>) -> tensor<3x4xi64>
func.return %0 : tensor<3x4xi64>
}
// -----
func.func @dynamic_iota_1(%output_shape: tensor<2xi64>) -> (tensor<3x4xi64>) {
%0 = stablehlo.dynamic_iota %output_shape, dim = 1 : (tensor<2xi64>) -> tensor<3x4xi64>
func.return %0 : tensor<3x4xi64>
}
// -----
func.func @dynamic_pad_0(%operand: tensor<5x4xi64>, %padding_value: tensor<i64>, %low: tensor<2xi64>, %high: tensor<2xi64>, %interior: tensor<2xi64>) -> (tensor<7x5xi64>) {
%result = stablehlo.dynamic_pad %operand, %padding_value, %low, %high, %interior
: (tensor<5x4xi64>, tensor<i64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<7x5xi64>
func.return %result : tensor<7x5xi64>
}
// -----
func.func @dynamic_reshape_0(%operand: tensor<1x6xi64>, %output_shape: tensor<1xi64>) -> (tensor<6xi64>) {
%result = stablehlo.dynamic_reshape %operand, %output_shape : (tensor<1x6xi64>, tensor<1xi64>) -> tensor<6xi64>
func.return %result : tensor<6xi64>
}
// -----
func.func @dynamic_slice_0(%operand: tensor<3x3xi64>, %start_indices0: tensor<i64>, %start_indices1: tensor<i64>) -> (tensor<3x3xi64>) {
%result = "stablehlo.dynamic_slice"(%operand, %start_indices0, %start_indices1) {
slice_sizes = array<i64: 3, 3>
} : (tensor<3x3xi64>, tensor<i64>, tensor<i64>) -> tensor<3x3xi64>
func.return %result : tensor<3x3xi64>
}
// -----
func.func @dynamic_update_slice_0(%operand: tensor<4x4xi64>, %update: tensor<2x3xi64>, %start_indices0: tensor<i64>, %start_indices1: tensor<i64>) -> (tensor<4x4xi64>) {
%result = stablehlo.dynamic_update_slice %operand, %update, %start_indices0, %start_indices1 :
(tensor<4x4xi64>, tensor<2x3xi64>, tensor<i64>, tensor<i64>) -> tensor<4x4xi64>
func.return %result : tensor<4x4xi64>
}
// -----
func.func @exponential_0(%operand: tensor<2x2xf64>) -> (tensor<2x2xf64>) {
%result = stablehlo.exponential %operand : tensor<2x2xf64>
func.return %result : tensor<2x2xf64>
}
// -----
func.func @exponential_1(%operand: tensor<complex<f64>>) -> (tensor<complex<f64>>) {
%result = stablehlo.exponential %operand : tensor<complex<f64>>
func.return %result : tensor<complex<f64>>
}
// -----
func.func @exponential_minus_one_0(%operand: tensor<2xf64>) -> (tensor<2xf64>) {
%result = stablehlo.exponential_minus_one %operand : tensor<2xf64>
func.return %result : tensor<2xf64>
}
// -----
func.func @exponential_minus_one_1(%operand: tensor<3xcomplex<f64>>) -> (tensor<3xcomplex<f64>>) {
%result = stablehlo.exponential_minus_one %operand : tensor<3xcomplex<f64>>
func.return %result : tensor<3xcomplex<f64>>
}
// -----
func.func @fft_0(%operand: tensor<2xcomplex<f64>>) -> (tensor<2xcomplex<f64>>) {
%result = stablehlo.fft %operand, type = FFT, length = [2] : (tensor<2xcomplex<f64>>) -> tensor<2xcomplex<f64>>
func.return %result : tensor<2xcomplex<f64>>
}
// -----
func.func @fft_1(%operand: tensor<2x2xcomplex<f64>>) -> (tensor<2x2xcomplex<f64>>) {
%result = stablehlo.fft %operand, type = FFT, length = [2, 2] : (tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
func.return %result : tensor<2x2xcomplex<f64>>
}
// -----
func.func @fft_2(%operand: tensor<2x2x2xcomplex<f64>>) -> (tensor<2x2x2xcomplex<f64>>) {
%result = stablehlo.fft %operand, type = FFT, length = [2, 2, 2] : (tensor<2x2x2xcomplex<f64>>) -> tensor<2x2x2xcomplex<f64>>
func.return %result : tensor<2x2x2xcomplex<f64>>
}
// -----
func.func @fft_3(%operand: tensor<2xcomplex<f64>>) -> (tensor<2xcomplex<f64>>) {
%result = stablehlo.fft %operand, type = IFFT, length = [2] : (tensor<2xcomplex<f64>>) -> tensor<2xcomplex<f64>>
func.return %result : tensor<2xcomplex<f64>>
}
// -----
func.func @fft_4(%operand: tensor<2x2xcomplex<f64>>) -> (tensor<2x2xcomplex<f64>>) {
%result = stablehlo.fft %operand, type = IFFT, length = [2, 2] : (tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
func.return %result : tensor<2x2xcomplex<f64>>
}
// -----
func.func @fft_5(%operand: tensor<2x2x2xcomplex<f64>>) -> (tensor<2x2x2xcomplex<f64>>) {
%result = stablehlo.fft %operand, type = IFFT, length = [2, 2, 2] : (tensor<2x2x2xcomplex<f64>>) -> tensor<2x2x2xcomplex<f64>>
func.return %result : tensor<2x2x2xcomplex<f64>>
}
// -----
func.func @fft_6(%operand: tensor<4xf64>) -> (tensor<3xcomplex<f64>>) {
%result = stablehlo.fft %operand, type = RFFT, length = [4] : (tensor<4xf64>) -> tensor<3xcomplex<f64>>
func.return %result : tensor<3xcomplex<f64>>
}
// -----
func.func @fft_7(%operand: tensor<4x4xf64>) -> (tensor<4x3xcomplex<f64>>) {
%result = stablehlo.fft %operand, type = RFFT, length = [4, 4] : (tensor<4x4xf64>) -> tensor<4x3xcomplex<f64>>
func.return %result : tensor<4x3xcomplex<f64>>
}
// -----
func.func @fft_8(%operand: tensor<2x2x4xf64>) -> (tensor<2x2x3xcomplex<f64>>) {
%result = stablehlo.fft %operand, type = RFFT, length = [2, 2, 4] : (tensor<2x2x4xf64>) -> tensor<2x2x3xcomplex<f64>>
func.return %result : tensor<2x2x3xcomplex<f64>>
}
// -----
func.func @fft_9(%operand: tensor<3xcomplex<f64>>) -> (tensor<4xf64>) {
%result = stablehlo.fft %operand, type = IRFFT, length = [4] : (tensor<3xcomplex<f64>>) -> tensor<4xf64>
func.return %result : tensor<4xf64>
}
// -----
func.func @fft_10(%operand: tensor<4x3xcomplex<f64>>) -> (tensor<4x4xf64>) {
%result = stablehlo.fft %operand, type = IRFFT, length = [4, 4] : (tensor<4x3xcomplex<f64>>) -> tensor<4x4xf64>
func.return %result : tensor<4x4xf64>
}
// -----
func.func @fft_11(%operand: tensor<2x2x3xcomplex<f64>>) -> (tensor<2x2x4xf64>) {
%result = stablehlo.fft %operand, type = IRFFT, length = [2, 2, 4] : (tensor<2x2x3xcomplex<f64>>) -> tensor<2x2x4xf64>
func.return %result : tensor<2x2x4xf64>
}
// -----
func.func @floor_0(%0: tensor<9xbf16>) -> (tensor<9xbf16>) {
%1 = stablehlo.floor %0 : tensor<9xbf16>
func.return %1 : tensor<9xbf16>
}
// -----
func.func @floor_1(%0: tensor<9xf16>) -> (tensor<9xf16>) {
%1 = stablehlo.floor %0 : tensor<9xf16>
func.return %1 : tensor<9xf16>
}
// -----
func.func @floor_2(%0: tensor<9xf32>) -> (tensor<9xf32>) {
%1 = stablehlo.floor %0 : tensor<9xf32>
func.return %1 : tensor<9xf32>
}
// -----
func.func @floor_3(%0: tensor<9xf64>) -> (tensor<9xf64>) {
%1 = stablehlo.floor %0 : tensor<9xf64>
func.return %1 : tensor<9xf64>
}
// -----
func.func @gather_0(%operand: tensor<3x4x2xi64>, %start_indices: tensor<2x3x2xi64>) -> (tensor<2x3x2x2xi64>) {
%result = "stablehlo.gather"(%operand, %start_indices) {
dimension_numbers = #stablehlo.gather<
offset_dims = [2, 3],
collapsed_slice_dims = [0],
start_index_map = [1, 0],
index_vector_dim = 2>,
slice_sizes = array<i64: 1, 2, 2>,
indices_are_sorted = false
} : (tensor<3x4x2xi64>, tensor<2x3x2xi64>) -> tensor<2x3x2x2xi64>
func.return %result : tensor<2x3x2x2xi64>
}
// -----
func.func @gather_1(%operand: tensor<2x3x4x2xi64>, %start_indices: tensor<2x2x3x2xi64>) -> (tensor<2x2x3x2x2xi64>) {
%result = "stablehlo.gather"(%operand, %start_indices) {
dimension_numbers = #stablehlo.gather<
offset_dims = [3, 4],
collapsed_slice_dims = [1],
operand_batching_dims = [0],
start_indices_batching_dims = [1],
start_index_map = [2, 1],
index_vector_dim = 3>,
slice_sizes = array<i64: 1, 1, 2, 2>,
indices_are_sorted = false
} : (tensor<2x3x4x2xi64>, tensor<2x2x3x2xi64>) -> tensor<2x2x3x2x2xi64>
func.return %result : tensor<2x2x3x2x2xi64>
}
// -----
func.func @get_dimension_size_0(%operand: tensor<2x3xi64>) -> (tensor<i32>) {
%result = stablehlo.get_dimension_size %operand, dim = 1 : (tensor<2x3xi64>) -> tensor<i32>
func.return %result : tensor<i32>
}
// -----
func.func @if_0(%pred: tensor<i1>, %0: tensor<2xi64>, %1: tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>) {
%result0, %result1 = "stablehlo.if"(%pred) ({
stablehlo.return %0, %0 : tensor<2xi64>, tensor<2xi64>
}, {
stablehlo.return %1, %1 : tensor<2xi64>, tensor<2xi64>
}) : (tensor<i1>) -> (tensor<2xi64>, tensor<2xi64>)
func.return %result0, %result1 : tensor<2xi64>, tensor<2xi64>
}
// -----
func.func @if_1(%pred: tensor<i1>, %0: tensor<2xi64>, %1: tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>) {
%result0, %result1 = "stablehlo.if"(%pred) ({
stablehlo.return %0, %0 : tensor<2xi64>, tensor<2xi64>
}, {
stablehlo.return %1, %1 : tensor<2xi64>, tensor<2xi64>
}) : (tensor<i1>) -> (tensor<2xi64>, tensor<2xi64>)
func.return %result0, %result1 : tensor<2xi64>, tensor<2xi64>
}
// -----
func.func @imag_0(%0: tensor<2xf64>) -> (tensor<2xf64>) {
%1 = stablehlo.imag %0 : tensor<2xf64>
func.return %1 : tensor<2xf64>
}
// -----
func.func @imag_1(%0: tensor<2xcomplex<f64>>) -> (tensor<2xf64>) {
%1 = stablehlo.imag %0 : (tensor<2xcomplex<f64>>) -> tensor<2xf64>
func.return %1 : tensor<2xf64>
}
// -----
func.func @iota_0() -> (tensor<3x4xi4>) {
%0 = stablehlo.iota dim = 0 : tensor<3x4xi4>
func.return %0 : tensor<3x4xi4>
}
// -----
func.func @iota_1() -> (tensor<3x4xi4>) {
%0 = stablehlo.iota dim = 1 : tensor<3x4xi4>
func.return %0 : tensor<3x4xi4>
}
// -----
func.func @iota_2() -> (tensor<3x4xi8>) {
%0 = stablehlo.iota dim = 0 : tensor<3x4xi8>
func.return %0 : tensor<3x4xi8>
}
// -----
func.func @iota_3() -> (tensor<3x4xi8>) {
%0 = stablehlo.iota dim = 1 : tensor<3x4xi8>
func.return %0 : tensor<3x4xi8>
}
// -----
func.func @iota_4() -> (tensor<3x4xi16>) {
%0 = stablehlo.iota dim = 0 : tensor<3x4xi16>
func.return %0 : tensor<3x4xi16>
}
// -----
func.func @iota_5() -> (tensor<3x4xi16>) {
%0 = stablehlo.iota dim = 1 : tensor<3x4xi16>
func.return %0 : tensor<3x4xi16>
}
// -----
func.func @iota_6() -> (tensor<3x4xi32>) {
%0 = stablehlo.iota dim = 0 : tensor<3x4xi32>
func.return %0 : tensor<3x4xi32>
}
// -----
func.func @iota_7() -> (tensor<3x4xi32>) {
%0 = stablehlo.iota dim = 1 : tensor<3x4xi32>
func.return %0 : tensor<3x4xi32>
}
// -----
func.func @iota_8() -> (tensor<3x4xi64>) {
%0 = stablehlo.iota dim = 0 : tensor<3x4xi64>
func.return %0 : tensor<3x4xi64>
}
// -----
func.func @iota_9() -> (tensor<3x4xi64>) {
%0 = stablehlo.iota dim = 1 : tensor<3x4xi64>
func.return %0 : tensor<3x4xi64>
}
// -----
func.func @iota_10() -> (tensor<2x3x2xui64>) {
%0 = stablehlo.iota dim = 0 : tensor<2x3x2xui64>
func.return %0 : tensor<2x3x2xui64>
}
// -----
func.func @iota_11() -> (tensor<2x3x2xui64>) {
%0 = stablehlo.iota dim = 1 : tensor<2x3x2xui64>
func.return %0 : tensor<2x3x2xui64>
}
// -----
func.func @iota_12() -> (tensor<2x3x2xui64>) {
%0 = stablehlo.iota dim = 2 : tensor<2x3x2xui64>
func.return %0 : tensor<2x3x2xui64>
}
// -----
func.func @iota_13() -> (tensor<3x4xbf16>) {
%0 = stablehlo.iota dim = 0 : tensor<3x4xbf16>
func.return %0 : tensor<3x4xbf16>
}
// -----
func.func @iota_14() -> (tensor<3x4xbf16>) {
%0 = stablehlo.iota dim = 1 : tensor<3x4xbf16>
func.return %0 : tensor<3x4xbf16>
}
// -----
func.func @iota_15() -> (tensor<3x4xf16>) {
%0 = stablehlo.iota dim = 0 : tensor<3x4xf16>
func.return %0 : tensor<3x4xf16>
}
// -----
func.func @iota_16() -> (tensor<3x4xf16>) {
%0 = stablehlo.iota dim = 1 : tensor<3x4xf16>
func.return %0 : tensor<3x4xf16>
}
// -----
func.func @iota_17() -> (tensor<3x4xf32>) {
%0 = stablehlo.iota dim = 0 : tensor<3x4xf32>
func.return %0 : tensor<3x4xf32>
}
// -----
func.func @iota_18() -> (tensor<3x4xf32>) {
%0 = stablehlo.iota dim = 1 : tensor<3x4xf32>
func.return %0 : tensor<3x4xf32>
}
// -----
func.func @iota_19() -> (tensor<3x4xf64>) {
%0 = stablehlo.iota dim = 0 : tensor<3x4xf64>
func.return %0 : tensor<3x4xf64>
}
// -----
func.func @iota_20() -> (tensor<3x4xf64>) {
%0 = stablehlo.iota dim = 1 : tensor<3x4xf64>
func.return %0 : tensor<3x4xf64>
}
// -----
func.func @iota_21() -> (tensor<3x4xcomplex<f32>>) {
%0 = stablehlo.iota dim = 0 : tensor<3x4xcomplex<f32>>
func.return %0 : tensor<3x4xcomplex<f32>>
}
// -----
func.func @iota_22() -> (tensor<3x4xcomplex<f32>>) {
%0 = stablehlo.iota dim = 1 : tensor<3x4xcomplex<f32>>
func.return %0 : tensor<3x4xcomplex<f32>>
}
// -----
func.func @iota_23() -> (tensor<3x4xcomplex<f64>>) {
%0 = stablehlo.iota dim = 0 : tensor<3x4xcomplex<f64>>
func.return %0 : tensor<3x4xcomplex<f64>>
}
// -----
func.func @iota_24() -> (tensor<3x4xcomplex<f64>>) {
%0 = stablehlo.iota dim = 1 : tensor<3x4xcomplex<f64>>
func.return %0 : tensor<3x4xcomplex<f64>>
}
// -----
func.func @is_finite_0(%operand: tensor<7xf64>) -> (tensor<7xi1>) {
%result = stablehlo.is_finite %operand : (tensor<7xf64>) -> tensor<7xi1>
func.return %result : tensor<7xi1>
}
// -----
func.func @log_0(%operand: tensor<2x2xf64>) -> (tensor<2x2xf64>) {
%result = stablehlo.log %operand : tensor<2x2xf64>
func.return %result : tensor<2x2xf64>
}
// -----
func.func @log_1(%operand: tensor<complex<f64>>) -> (tensor<complex<f64>>) {
%result = stablehlo.log %operand : tensor<complex<f64>>
func.return %result : tensor<complex<f64>>
}
// -----
func.func @log_plus_one_0(%operand: tensor<5xf64>) -> (tensor<5xf64>) {
%result = stablehlo.log_plus_one %operand : tensor<5xf64>
func.return %result : tensor<5xf64>
}
// -----
func.func @log_plus_one_1(%operand: tensor<3xcomplex<f64>>) -> (tensor<3xcomplex<f64>>) {
%result = stablehlo.log_plus_one %operand : tensor<3xcomplex<f64>>
func.return %result : tensor<3xcomplex<f64>>
}
// -----
func.func @logistic_0(%operand: tensor<2x2xf64>) -> (tensor<2x2xf64>) {
%result = stablehlo.logistic %operand : tensor<2x2xf64>
func.return %result : tensor<2x2xf64>
}
// -----
func.func @logistic_1(%operand: tensor<complex<f64>>) -> (tensor<complex<f64>>) {
%result = stablehlo.logistic %operand : tensor<complex<f64>>
func.return %result : tensor<complex<f64>>
}
// -----
func.func @map_0(%input0: tensor<2x2xi64>, %input1: tensor<2x2xi64>) -> (tensor<2x2xi64>) {
%result = "stablehlo.map"(%input0, %input1) ({
^bb0(%arg0: tensor<i64>, %arg1: tensor<i64>):
%0 = stablehlo.multiply %arg0, %arg1 : tensor<i64>
stablehlo.return %0 : tensor<i64>
}) {
dimensions = array<i64: 0, 1>
} : (tensor<2x2xi64>, tensor<2x2xi64>) -> tensor<2x2xi64>
func.return %result : tensor<2x2xi64>
}
// -----
func.func @maximum_0(%0: tensor<5xi4>, %1: tensor<5xi4>) -> (tensor<5xi4>) {
%2 = stablehlo.maximum %0, %1 : tensor<5xi4>
func.return %2 : tensor<5xi4>
}
// -----
func.func @maximum_1(%0: tensor<2xui4>, %1: tensor<2xui4>) -> (tensor<2xui4>) {
%2 = stablehlo.maximum %0, %1 : tensor<2xui4>
func.return %2 : tensor<2xui4>
}
// -----
func.func @maximum_2(%0: tensor<5xi8>, %1: tensor<5xi8>) -> (tensor<5xi8>) {
%2 = stablehlo.maximum %0, %1 : tensor<5xi8>
func.return %2 : tensor<5xi8>
}
// -----
func.func @maximum_3(%0: tensor<2xui8>, %1: tensor<2xui8>) -> (tensor<2xui8>) {
%2 = stablehlo.maximum %0, %1 : tensor<2xui8>
func.return %2 : tensor<2xui8>
}
// -----
func.func @maximum_4(%0: tensor<5xi16>, %1: tensor<5xi16>) -> (tensor<5xi16>) {
%2 = stablehlo.maximum %0, %1 : tensor<5xi16>
func.return %2 : tensor<5xi16>
}
// -----
func.func @maximum_5(%0: tensor<2xui16>, %1: tensor<2xui16>) -> (tensor<2xui16>) {
%2 = stablehlo.maximum %0, %1 : tensor<2xui16>
func.return %2 : tensor<2xui16>
}
// -----
func.func @maximum_6(%0: tensor<5xi32>, %1: tensor<5xi32>) -> (tensor<5xi32>) {
%2 = stablehlo.maximum %0, %1 : tensor<5xi32>
func.return %2 : tensor<5xi32>
}
// -----
func.func @maximum_7(%0: tensor<2xui32>, %1: tensor<2xui32>) -> (tensor<2xui32>) {
%2 = stablehlo.maximum %0, %1 : tensor<2xui32>
func.return %2 : tensor<2xui32>
}
// -----
func.func @maximum_8(%0: tensor<5xi64>, %1: tensor<5xi64>) -> (tensor<5xi64>) {
%2 = stablehlo.maximum %0, %1 : tensor<5xi64>
func.return %2 : tensor<5xi64>
}
// -----
func.func @maximum_9(%0: tensor<2xui64>, %1: tensor<2xui64>) -> (tensor<2xui64>) {
%2 = stablehlo.maximum %0, %1 : tensor<2xui64>
func.return %2 : tensor<2xui64>
}
// -----
func.func @maximum_10(%0: tensor<4xi1>, %1: tensor<4xi1>) -> (tensor<4xi1>) {
%2 = stablehlo.maximum %0, %1 : tensor<4xi1>
func.return %2 : tensor<4xi1>
}
// -----
func.func @maximum_11(%0: tensor<11xbf16>, %1: tensor<11xbf16>) -> (tensor<11xbf16>) {
%2 = stablehlo.maximum %0, %1 : tensor<11xbf16>
func.return %2 : tensor<11xbf16>
}
// -----
func.func @maximum_12(%0: tensor<11xf16>, %1: tensor<11xf16>) -> (tensor<11xf16>) {
%2 = stablehlo.maximum %0, %1 : tensor<11xf16>
func.return %2 : tensor<11xf16>
}
// -----
func.func @maximum_13(%0: tensor<11xf32>, %1: tensor<11xf32>) -> (tensor<11xf32>) {
%2 = stablehlo.maximum %0, %1 : tensor<11xf32>
func.return %2 : tensor<11xf32>
}
// -----
func.func @maximum_14(%0: tensor<11xf64>, %1: tensor<11xf64>) -> (tensor<11xf64>) {
%2 = stablehlo.maximum %0, %1 : tensor<11xf64>
func.return %2 : tensor<11xf64>
}
// -----
func.func @maximum_15(%0: tensor<4xcomplex<f32>>, %1: tensor<4xcomplex<f32>>) -> (tensor<4xcomplex<f32>>) {
%2 = stablehlo.maximum %0, %1 : tensor<4xcomplex<f32>>
func.return %2 : tensor<4xcomplex<f32>>
}
// -----
func.func @maximum_16(%0: tensor<4xcomplex<f64>>, %1: tensor<4xcomplex<f64>>) -> (tensor<4xcomplex<f64>>) {
%2 = stablehlo.maximum %0, %1 : tensor<4xcomplex<f64>>
func.return %2 : tensor<4xcomplex<f64>>
}
// -----
func.func @minimum_0(%0: tensor<5xi4>, %1: tensor<5xi4>) -> (tensor<5xi4>) {
%2 = stablehlo.minimum %0, %1 : tensor<5xi4>
func.return %2 : tensor<5xi4>
}
// -----
func.func @minimum_1(%0: tensor<2xui4>, %1: tensor<2xui4>) -> (tensor<2xui4>) {
%2 = stablehlo.minimum %0, %1 : tensor<2xui4>
func.return %2 : tensor<2xui4>
}
// -----
func.func @minimum_2(%0: tensor<5xi8>, %1: tensor<5xi8>) -> (tensor<5xi8>) {
%2 = stablehlo.minimum %0, %1 : tensor<5xi8>
func.return %2 : tensor<5xi8>
}
// -----
func.func @minimum_3(%0: tensor<2xui8>, %1: tensor<2xui8>) -> (tensor<2xui8>) {
%2 = stablehlo.minimum %0, %1 : tensor<2xui8>
func.return %2 : tensor<2xui8>
}
// -----
func.func @minimum_4(%0: tensor<5xi16>, %1: tensor<5xi16>) -> (tensor<5xi16>) {
%2 = stablehlo.minimum %0, %1 : tensor<5xi16>
func.return %2 : tensor<5xi16>
}
// -----
func.func @minimum_5(%0: tensor<2xui16>, %1: tensor<2xui16>) -> (tensor<2xui16>) {
%2 = stablehlo.minimum %0, %1 : tensor<2xui16>
func.return %2 : tensor<2xui16>
}
// -----
func.func @minimum_6(%0: tensor<5xi32>, %1: tensor<5xi32>) -> (tensor<5xi32>) {
%2 = stablehlo.minimum %0, %1 : tensor<5xi32>
func.return %2 : tensor<5xi32>
}
// -----
func.func @minimum_7(%0: tensor<2xui32>, %1: tensor<2xui32>) -> (tensor<2xui32>) {
%2 = stablehlo.minimum %0, %1 : tensor<2xui32>
func.return %2 : tensor<2xui32>
}
// -----
func.func @minimum_8(%0: tensor<5xi64>, %1: tensor<5xi64>) -> (tensor<5xi64>) {
%2 = stablehlo.minimum %0, %1 : tensor<5xi64>
func.return %2 : tensor<5xi64>
}
// -----
func.func @minimum_9(%0: tensor<2xui64>, %1: tensor<2xui64>) -> (tensor<2xui64>) {
%2 = stablehlo.minimum %0, %1 : tensor<2xui64>
func.return %2 : tensor<2xui64>
}
// -----
func.func @minimum_10(%0: tensor<4xi1>, %1: tensor<4xi1>) -> (tensor<4xi1>) {
%2 = stablehlo.minimum %0, %1 : tensor<4xi1>
func.return %2 : tensor<4xi1>
}
// -----
func.func @minimum_11(%0: tensor<11xbf16>, %1: tensor<11xbf16>) -> (tensor<11xbf16>) {
%2 = stablehlo.minimum %0, %1 : tensor<11xbf16>
func.return %2 : tensor<11xbf16>
}
// -----
func.func @minimum_12(%0: tensor<11xf16>, %1: tensor<11xf16>) -> (tensor<11xf16>) {
%2 = stablehlo.minimum %0, %1 : tensor<11xf16>
func.return %2 : tensor<11xf16>
}
// -----
func.func @minimum_13(%0: tensor<11xf32>, %1: tensor<11xf32>) -> (tensor<11xf32>) {
%2 = stablehlo.minimum %0, %1 : tensor<11xf32>
func.return %2 : tensor<11xf32>
}
// -----
func.func @minimum_14(%0: tensor<11xf64>, %1: tensor<11xf64>) -> (tensor<11xf64>) {
%2 = stablehlo.minimum %0, %1 : tensor<11xf64>
func.return %2 : tensor<11xf64>
}
// -----
func.func @minimum_15(%0: tensor<4xcomplex<f32>>, %1: tensor<4xcomplex<f32>>) -> (tensor<4xcomplex<f32>>) {
%2 = stablehlo.minimum %0, %1 : tensor<4xcomplex<f32>>
func.return %2 : tensor<4xcomplex<f32>>
}
// -----
func.func @minimum_16(%0: tensor<4xcomplex<f64>>, %1: tensor<4xcomplex<f64>>) -> (tensor<4xcomplex<f64>>) {
%2 = stablehlo.minimum %0, %1 : tensor<4xcomplex<f64>>
func.return %2 : tensor<4xcomplex<f64>>
}
// -----
func.func @multiply_0(%0: tensor<5xi8>, %1: tensor<5xi8>) -> (tensor<5xi8>) {
%2 = stablehlo.multiply %0, %1 : tensor<5xi8>
func.return %2 : tensor<5xi8>
}
// -----
func.func @multiply_1(%0: tensor<3xui8>, %1: tensor<3xui8>) -> (tensor<3xui8>) {
%2 = stablehlo.multiply %0, %1 : tensor<3xui8>
func.return %2 : tensor<3xui8>
}
// -----
func.func @multiply_2(%0: tensor<5xi16>, %1: tensor<5xi16>) -> (tensor<5xi16>) {
%2 = stablehlo.multiply %0, %1 : tensor<5xi16>
func.return %2 : tensor<5xi16>
}
// -----
func.func @multiply_3(%0: tensor<2xui16>, %1: tensor<2xui16>) -> (tensor<2xui16>) {
%2 = stablehlo.multiply %0, %1 : tensor<2xui16>
func.return %2 : tensor<2xui16>
}
// -----
func.func @multiply_4(%0: tensor<5xi32>, %1: tensor<5xi32>) -> (tensor<5xi32>) {
%2 = stablehlo.multiply %0, %1 : tensor<5xi32>
func.return %2 : tensor<5xi32>
}
// -----
func.func @multiply_5(%0: tensor<2xui32>, %1: tensor<2xui32>) -> (tensor<2xui32>) {
%2 = stablehlo.multiply %0, %1 : tensor<2xui32>
func.return %2 : tensor<2xui32>
}
// -----
func.func @multiply_6(%0: tensor<5xi64>, %1: tensor<5xi64>) -> (tensor<5xi64>) {
%2 = stablehlo.multiply %0, %1 : tensor<5xi64>
func.return %2 : tensor<5xi64>
}
// -----
func.func @multiply_7(%0: tensor<2xui64>, %1: tensor<2xui64>) -> (tensor<2xui64>) {
%2 = stablehlo.multiply %0, %1 : tensor<2xui64>
func.return %2 : tensor<2xui64>
}
// -----
func.func @multiply_8(%0: tensor<4xi1>, %1: tensor<4xi1>) -> (tensor<4xi1>) {
%2 = stablehlo.multiply %0, %1 : tensor<4xi1>
func.return %2 : tensor<4xi1>
}
// -----
func.func @multiply_9(%0: tensor<11xbf16>, %1: tensor<11xbf16>) -> (tensor<11xbf16>) {
%2 = stablehlo.multiply %0, %1 : tensor<11xbf16>
func.return %2 : tensor<11xbf16>
}
// -----
func.func @multiply_10(%0: tensor<11xf16>, %1: tensor<11xf16>) -> (tensor<11xf16>) {
%2 = stablehlo.multiply %0, %1 : tensor<11xf16>
func.return %2 : tensor<11xf16>
}
// -----
func.func @multiply_11(%0: tensor<11xf32>, %1: tensor<11xf32>) -> (tensor<11xf32>) {
%2 = stablehlo.multiply %0, %1 : tensor<11xf32>
func.return %2 : tensor<11xf32>
}
// -----
func.func @multiply_12(%0: tensor<11xf64>, %1: tensor<11xf64>) -> (tensor<11xf64>) {
%2 = stablehlo.multiply %0, %1 : tensor<11xf64>
func.return %2 : tensor<11xf64>
}
// -----
func.func @multiply_13(%0: tensor<2xcomplex<f32>>, %1: tensor<2xcomplex<f32>>) -> (tensor<2xcomplex<f32>>) {
%2 = stablehlo.multiply %0, %1 : tensor<2xcomplex<f32>>
func.return %2 : tensor<2xcomplex<f32>>
}
// -----
func.func @multiply_14(%0: tensor<2xcomplex<f64>>, %1: tensor<2xcomplex<f64>>) -> (tensor<2xcomplex<f64>>) {
%2 = stablehlo.multiply %0, %1 : tensor<2xcomplex<f64>>
func.return %2 : tensor<2xcomplex<f64>>
}
// -----
func.func @negate_0(%0: tensor<5xi4>) -> (tensor<5xi4>) {
%1 = stablehlo.negate %0 : tensor<5xi4>
func.return %1 : tensor<5xi4>
}
// -----
func.func @negate_1(%0: tensor<3xui4>) -> (tensor<3xui4>) {
%1 = stablehlo.negate %0 : tensor<3xui4>
func.return %1 : tensor<3xui4>
}
// -----
func.func @negate_2(%0: tensor<5xi8>) -> (tensor<5xi8>) {
%1 = stablehlo.negate %0 : tensor<5xi8>
func.return %1 : tensor<5xi8>
}
// -----
func.func @negate_3(%0: tensor<3xui8>) -> (tensor<3xui8>) {
%1 = stablehlo.negate %0 : tensor<3xui8>
func.return %1 : tensor<3xui8>
}
// -----
func.func @negate_4(%0: tensor<5xi16>) -> (tensor<5xi16>) {
%1 = stablehlo.negate %0 : tensor<5xi16>
func.return %1 : tensor<5xi16>
}
// -----
func.func @negate_5(%0: tensor<3xui16>) -> (tensor<3xui16>) {
%1 = stablehlo.negate %0 : tensor<3xui16>
func.return %1 : tensor<3xui16>
}
// -----
func.func @negate_6(%0: tensor<5xi32>) -> (tensor<5xi32>) {
%1 = stablehlo.negate %0 : tensor<5xi32>
func.return %1 : tensor<5xi32>
}
// -----
func.func @negate_7(%0: tensor<3xui32>) -> (tensor<3xui32>) {
%1 = stablehlo.negate %0 : tensor<3xui32>
func.return %1 : tensor<3xui32>
}
// -----
func.func @negate_8(%0: tensor<5xi64>) -> (tensor<5xi64>) {
%1 = stablehlo.negate %0 : tensor<5xi64>
func.return %1 : tensor<5xi64>
}
// -----
func.func @negate_9(%0: tensor<3xui64>) -> (tensor<3xui64>) {
%1 = stablehlo.negate %0 : tensor<3xui64>
func.return %1 : tensor<3xui64>
}
// -----
func.func @negate_10(%0: tensor<11xbf16>) -> (tensor<11xbf16>) {
%1 = stablehlo.negate %0 : tensor<11xbf16>
func.return %1 : tensor<11xbf16>
}
// -----
func.func @negate_11(%0: tensor<11xf16>) -> (tensor<11xf16>) {
%1 = stablehlo.negate %0 : tensor<11xf16>
func.return %1 : tensor<11xf16>
}
// -----
func.func @negate_12(%0: tensor<11xf32>) -> (tensor<11xf32>) {
%1 = stablehlo.negate %0 : tensor<11xf32>
func.return %1 : tensor<11xf32>
}
// -----
func.func @negate_13(%0: tensor<11xf64>) -> (tensor<11xf64>) {
%1 = stablehlo.negate %0 : tensor<11xf64>
func.return %1 : tensor<11xf64>
}
// -----
func.func @negate_14(%0: tensor<2xcomplex<f32>>) -> (tensor<2xcomplex<f32>>) {
%1 = stablehlo.negate %0 : tensor<2xcomplex<f32>>
func.return %1 : tensor<2xcomplex<f32>>
}
// -----
func.func @negate_15(%0: tensor<2xcomplex<f64>>) -> (tensor<2xcomplex<f64>>) {
%1 = stablehlo.negate %0 : tensor<2xcomplex<f64>>
func.return %1 : tensor<2xcomplex<f64>>
}
// -----
func.func @not_0(%0: tensor<3xi4>) -> (tensor<3xi4>) {
%1 = stablehlo.not %0 : tensor<3xi4>
func.return %1 : tensor<3xi4>
}
// -----
func.func @not_1(%0: tensor<3xui4>) -> (tensor<3xui4>) {
%1 = stablehlo.not %0 : tensor<3xui4>
func.return %1 : tensor<3xui4>
}
// -----
func.func @not_2(%0: tensor<3xi8>) -> (tensor<3xi8>) {
%1 = stablehlo.not %0 : tensor<3xi8>
func.return %1 : tensor<3xi8>
}
// -----
func.func @not_3(%0: tensor<3xui8>) -> (tensor<3xui8>) {
%1 = stablehlo.not %0 : tensor<3xui8>
func.return %1 : tensor<3xui8>
}
// -----
func.func @not_4(%0: tensor<3xi16>) -> (tensor<3xi16>) {
%1 = stablehlo.not %0 : tensor<3xi16>
func.return %1 : tensor<3xi16>
}
// -----
func.func @not_5(%0: tensor<3xui16>) -> (tensor<3xui16>) {
%1 = stablehlo.not %0 : tensor<3xui16>
func.return %1 : tensor<3xui16>
}
// -----
func.func @not_6(%0: tensor<3xi32>) -> (tensor<3xi32>) {
%1 = stablehlo.not %0 : tensor<3xi32>
func.return %1 : tensor<3xi32>
}
// -----
func.func @not_7(%0: tensor<3xui32>) -> (tensor<3xui32>) {
%1 = stablehlo.not %0 : tensor<3xui32>
func.return %1 : tensor<3xui32>
}
// -----
func.func @not_8(%0: tensor<3xi64>) -> (tensor<3xi64>) {
%1 = stablehlo.not %0 : tensor<3xi64>
func.return %1 : tensor<3xi64>
}
// -----
func.func @not_9(%0: tensor<3xui64>) -> (tensor<3xui64>) {
%1 = stablehlo.not %0 : tensor<3xui64>
func.return %1 : tensor<3xui64>
}
// -----
func.func @not_10(%0: tensor<2xi1>) -> (tensor<2xi1>) {
%1 = stablehlo.not %0 : tensor<2xi1>
func.return %1 : tensor<2xi1>
}
// -----
func.func @not_11(%0: tensor<i1>) -> (tensor<i1>) {
%1 = stablehlo.not %0 : tensor<i1>
func.return %1 : tensor<i1>
}
// -----
func.func @not_12(%0: tensor<i1>) -> (tensor<i1>) {
%1 = stablehlo.not %0 : tensor<i1>
func.return %1 : tensor<i1>
}
// -----
func.func @optimization_barrier_0(%operand0: tensor<f32>, %operand1: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
%result0, %result1 = stablehlo.optimization_barrier %operand0, %operand1 : tensor<f32>, tensor<f32>
func.return %result0, %result1 : tensor<f32>, tensor<f32>
}
// -----
func.func @or_0(%0: tensor<3xi4>, %1: tensor<3xi4>) -> (tensor<3xi4>) {
%2 = stablehlo.or %0, %1 : tensor<3xi4>
func.return %2 : tensor<3xi4>
}
// -----
func.func @or_1(%0: tensor<3xui4>, %1: tensor<3xui4>) -> (tensor<3xui4>) {
%2 = stablehlo.or %0, %1 : tensor<3xui4>
func.return %2 : tensor<3xui4>
}
// -----
func.func @or_2(%0: tensor<3xi8>, %1: tensor<3xi8>) -> (tensor<3xi8>) {
%2 = stablehlo.or %0, %1 : tensor<3xi8>
func.return %2 : tensor<3xi8>
}
// -----
func.func @or_3(%0: tensor<3xui8>, %1: tensor<3xui8>) -> (tensor<3xui8>) {
%2 = stablehlo.or %0, %1 : tensor<3xui8>
func.return %2 : tensor<3xui8>
}
// -----
func.func @or_4(%0: tensor<3xi16>, %1: tensor<3xi16>) -> (tensor<3xi16>) {
%2 = stablehlo.or %0, %1 : tensor<3xi16>
func.return %2 : tensor<3xi16>
}
// -----
func.func @or_5(%0: tensor<3xui16>, %1: tensor<3xui16>) -> (tensor<3xui16>) {
%2 = stablehlo.or %0, %1 : tensor<3xui16>
func.return %2 : tensor<3xui16>
}
// -----
func.func @or_6(%0: tensor<3xi32>, %1: tensor<3xi32>) -> (tensor<3xi32>) {
%2 = stablehlo.or %0, %1 : tensor<3xi32>
func.return %2 : tensor<3xi32>
}
// -----
func.func @or_7(%0: tensor<3xui32>, %1: tensor<3xui32>) -> (tensor<3xui32>) {
%2 = stablehlo.or %0, %1 : tensor<3xui32>
func.return %2 : tensor<3xui32>
}
// -----
func.func @or_8(%0: tensor<3xi64>, %1: tensor<3xi64>) -> (tensor<3xi64>) {
%2 = stablehlo.or %0, %1 : tensor<3xi64>
func.return %2 : tensor<3xi64>
}
// -----
func.func @or_9(%0: tensor<3xui64>, %1: tensor<3xui64>) -> (tensor<3xui64>) {
%2 = stablehlo.or %0, %1 : tensor<3xui64>
func.return %2 : tensor<3xui64>
}
// -----
func.func @or_10(%0: tensor<4xi1>, %1: tensor<4xi1>) -> (tensor<4xi1>) {
%2 = stablehlo.or %0, %1 : tensor<4xi1>
func.return %2 : tensor<4xi1>
}
// -----
func.func @or_11(%0: tensor<2xi1>, %1: tensor<2xi1>) -> (tensor<2xi1>) {
%2 = stablehlo.or %0, %1 : tensor<2xi1>
func.return %2 : tensor<2xi1>
}
// -----
func.func @or_12(%0: tensor<2xi1>, %1: tensor<2xi1>) -> (tensor<2xi1>) {
%2 = stablehlo.or %0, %1 : tensor<2xi1>
func.return %2 : tensor<2xi1>
}
// -----
func.func @pad_0(%operand: tensor<5x4xi64>, %padding_value: tensor<i64>) -> (tensor<7x5xi64>) {
%result = stablehlo.pad %operand, %padding_value, low = [1, -1], high = [1, -1], interior = [0, 1]
: (tensor<5x4xi64>, tensor<i64>) -> tensor<7x5xi64>
func.return %result : tensor<7x5xi64>
}
// -----
func.func @popcnt_0(%operand: tensor<4xi64>) -> (tensor<4xi64>) {
%result = stablehlo.popcnt %operand : tensor<4xi64>
func.return %result : tensor<4xi64>
}
// -----
func.func @power_0(%lhs: tensor<6xi64>, %rhs: tensor<6xi64>) -> (tensor<6xi64>) {
%result = stablehlo.power %lhs, %rhs : tensor<6xi64>
func.return %result : tensor<6xi64>
}
// -----
func.func @power_1(%lhs: tensor<5xui64>, %rhs: tensor<5xui64>) -> (tensor<5xui64>) {
%result = stablehlo.power %lhs, %rhs : tensor<5xui64>
func.return %result : tensor<5xui64>
}
// -----
func.func @power_2(%lhs: tensor<6xf64>, %rhs: tensor<6xf64>) -> (tensor<6xf64>) {
%result = stablehlo.power %lhs, %rhs : tensor<6xf64>
func.return %result : tensor<6xf64>
}
// -----
func.func @power_3(%lhs: tensor<2xcomplex<f64>>, %rhs: tensor<2xcomplex<f64>>) -> (tensor<2xcomplex<f64>>) {
%result = stablehlo.power %lhs, %rhs : tensor<2xcomplex<f64>>
func.return %result : tensor<2xcomplex<f64>>
}
// -----
func.func @real_0(%0: tensor<2xf64>) -> (tensor<2xf64>) {
%1 = stablehlo.real %0 : tensor<2xf64>
func.return %1 : tensor<2xf64>
}
// -----
func.func @real_1(%0: tensor<2xcomplex<f64>>) -> (tensor<2xf64>) {
%1 = stablehlo.real %0 : (tensor<2xcomplex<f64>>) -> tensor<2xf64>
func.return %1 : tensor<2xf64>
}
// -----
func.func @reduce_0(%input: tensor<1x6xi64>, %init_value: tensor<i64>) -> (tensor<1xi64>) {
%result = "stablehlo.reduce"(%input, %init_value) ({
^bb0(%arg0: tensor<i64>, %arg1: tensor<i64>):
%0 = stablehlo.add %arg0, %arg1 : tensor<i64>
stablehlo.return %0 : tensor<i64>
}) {
dimensions = array<i64: 1>
} : (tensor<1x6xi64>, tensor<i64>) -> tensor<1xi64>
func.return %result : tensor<1xi64>
}
// -----
func.func @reduce_precision_0(%operand: tensor<6xf64>) -> (tensor<6xf64>) {
%output = stablehlo.reduce_precision %operand, format = e5m10 : tensor<6xf64>
func.return %output : tensor<6xf64>
}
// -----
func.func @reduce_precision_1(%operand: tensor<f64>) -> (tensor<f64>) {
%output = stablehlo.reduce_precision %operand, format = e5m0 : tensor<f64>
func.return %output : tensor<f64>
}
// -----
func.func @reduce_window_0(%input: tensor<3x2xi64>, %init_value: tensor<i64>) -> (tensor<2x2xi64>) {
%result = "stablehlo.reduce_window"(%input, %init_value) ({
^bb0(%arg0: tensor<i64>, %arg1: tensor<i64>):
%0 = stablehlo.add %arg0, %arg1 : tensor<i64>
stablehlo.return %0 : tensor<i64>
}) {
base_dilations = array<i64: 2, 1>,
padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>,
window_dilations = array<i64: 3, 1>,
window_dimensions = array<i64: 2, 1>,
window_strides = array<i64: 4, 1>
} : (tensor<3x2xi64>, tensor<i64>) -> tensor<2x2xi64>
func.return %result : tensor<2x2xi64>
}
// -----
func.func @reduce_window_1(%input: tensor<3x2xi64>, %init_value: tensor<i64>) -> (tensor<1x2xi64>) {
%result = "stablehlo.reduce_window"(%input, %init_value) ({
^bb0(%arg0: tensor<i64>, %arg1: tensor<i64>):
%0 = stablehlo.add %arg0, %arg1 : tensor<i64>
stablehlo.return %0 : tensor<i64>
}) {
base_dilations = array<i64: 2, 1>,
padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>,
window_dilations = array<i64: 3, 1>,
window_dimensions = array<i64: 3, 1>,
window_strides = array<i64: 4, 1>
} : (tensor<3x2xi64>, tensor<i64>) -> tensor<1x2xi64>
func.return %result : tensor<1x2xi64>
}
// -----
func.func @remainder_0(%lhs: tensor<4xi64>, %rhs: tensor<4xi64>) -> (tensor<4xi64>) {
%result = stablehlo.remainder %lhs, %rhs : tensor<4xi64>
func.return %result : tensor<4xi64>
}
// -----
func.func @remainder_1(%lhs: tensor<4xui64>, %rhs: tensor<4xui64>) -> (tensor<4xui64>) {
%result = stablehlo.remainder %lhs, %rhs : tensor<4xui64>
func.return %result : tensor<4xui64>
}
// -----
func.func @remainder_2(%lhs: tensor<4xf64>, %rhs: tensor<4xf64>) -> (tensor<4xf64>) {
%result = stablehlo.remainder %lhs, %rhs : tensor<4xf64>
func.return %result : tensor<4xf64>
}
// -----
func.func @reshape_0(%0: tensor<1x6xi32>) -> (tensor<6xi32>) {
%1 = stablehlo.reshape %0 : (tensor<1x6xi32>) -> tensor<6xi32>
func.return %1 : tensor<6xi32>
}
// -----
func.func @reshape_1(%0: tensor<6xi32>) -> (tensor<2x3xi32>) {
%1 = stablehlo.reshape %0 : (tensor<6xi32>) -> tensor<2x3xi32>
func.return %1 : tensor<2x3xi32>
}
// -----
func.func @reshape_2(%0: tensor<2x3xi32>) -> (tensor<3x2xi32>) {
%1 = stablehlo.reshape %0 : (tensor<2x3xi32>) -> tensor<3x2xi32>
func.return %1 : tensor<3x2xi32>
}
// -----
func.func @reshape_3(%0: tensor<3x2xi32>) -> (tensor<6xi32>) {
%1 = stablehlo.reshape %0 : (tensor<3x2xi32>) -> tensor<6xi32>
func.return %1 : tensor<6xi32>
}
// -----
func.func @reverse_0(%operand: tensor<3x2xi64>) -> (tensor<3x2xi64>) {
%result = "stablehlo.reverse"(%operand) {
dimensions = array<i64: 1, 0>
} : (tensor<3x2xi64>) -> tensor<3x2xi64>
func.return %result : tensor<3x2xi64>
}
// -----
func.func @round_nearest_afz_0(%operand: tensor<5xf64>) -> (tensor<5xf64>) {
%result = stablehlo.round_nearest_afz %operand : tensor<5xf64>
func.return %result : tensor<5xf64>
}
// -----
func.func @round_nearest_even_0(%operand: tensor<5xf64>) -> (tensor<5xf64>) {
%result = stablehlo.round_nearest_even %operand : tensor<5xf64>
func.return %result : tensor<5xf64>
}
// -----
func.func @rsqrt_0(%operand: tensor<2x2xf64>) -> (tensor<2x2xf64>) {
%result = stablehlo.rsqrt %operand : tensor<2x2xf64>
func.return %result : tensor<2x2xf64>
}
// -----
func.func @rsqrt_1(%operand: tensor<2xcomplex<f64>>) -> (tensor<2xcomplex<f64>>) {
%result = stablehlo.rsqrt %operand : tensor<2xcomplex<f64>>
func.return %result : tensor<2xcomplex<f64>>
}
// -----
func.func @scatter_0(%inputs: tensor<3x4x2xi64>, %scatter_indices: tensor<2x3x2xi64>, %updates: tensor<2x3x2x2xi64>) -> (tensor<3x4x2xi64>) {
%result = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) ({
^bb0(%arg0: tensor<i64>, %arg1: tensor<i64>):
%0 = stablehlo.add %arg0, %arg1 : tensor<i64>
stablehlo.return %0 : tensor<i64>
}) {
scatter_dimension_numbers = #stablehlo.scatter<
update_window_dims = [2, 3],
inserted_window_dims = [0],
scatter_dims_to_operand_dims = [1, 0],
index_vector_dim = 2>,
indices_are_sorted = false,
unique_indices = false
} : (tensor<3x4x2xi64>, tensor<2x3x2xi64>, tensor<2x3x2x2xi64>) -> tensor<3x4x2xi64>
func.return %result : tensor<3x4x2xi64>
}
// -----
func.func @scatter_1(%inputs: tensor<2x3x4x2xi64>, %scatter_indices: tensor<2x2x3x2xi64>, %updates: tensor<2x2x3x2x2xi64>) -> (tensor<2x3x4x2xi64>) {
%result = "stablehlo.scatter"(%inputs, %scatter_indices, %updates) ({
^bb0(%arg0: tensor<i64>, %arg1: tensor<i64>):
%0 = stablehlo.add %arg0, %arg1 : tensor<i64>
stablehlo.return %0 : tensor<i64>
}) {
scatter_dimension_numbers = #stablehlo.scatter<
update_window_dims = [3, 4],
inserted_window_dims = [1],
input_batching_dims = [0],
scatter_indices_batching_dims = [1],
scatter_dims_to_operand_dims = [2, 1],
index_vector_dim = 3>,
indices_are_sorted = false,
unique_indices = false
} : (tensor<2x3x4x2xi64>, tensor<2x2x3x2xi64>, tensor<2x2x3x2x2xi64>) -> tensor<2x3x4x2xi64>
func.return %result : tensor<2x3x4x2xi64>
}
// -----
func.func @select_0(%pred: tensor<3xi1>, %on_true: tensor<3xi64>, %on_false: tensor<3xi64>) -> (tensor<3xi64>) {
%result = stablehlo.select %pred, %on_true, %on_false : (tensor<3xi1>, tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
func.return %result : tensor<3xi64>
}
// -----
func.func @select_1(%pred: tensor<i1>, %on_true: tensor<3xi64>, %on_false: tensor<3xi64>) -> (tensor<3xi64>) {
%result = stablehlo.select %pred, %on_true, %on_false : (tensor<i1>, tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
func.return %result : tensor<3xi64>
}
// -----
func.func @select_and_scatter_0(%operand: tensor<4x2xi64>, %source: tensor<2x2xi64>, %init_value: tensor<i64>) -> (tensor<4x2xi64>) {
%result = "stablehlo.select_and_scatter"(%operand, %source, %init_value) ({
^bb0(%arg0: tensor<i64>, %arg1: tensor<i64>):
%0 = stablehlo.compare GE, %arg0, %arg1 : (tensor<i64>, tensor<i64>) -> tensor<i1>
stablehlo.return %0 : tensor<i1>
}, {
^bb0(%arg0: tensor<i64>, %arg1: tensor<i64>):
%0 = stablehlo.add %arg0, %arg1 : tensor<i64>
stablehlo.return %0 : tensor<i64>
}) {
window_dimensions = array<i64: 3, 1>,
window_strides = array<i64: 2, 1>,
padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>
} : (tensor<4x2xi64>, tensor<2x2xi64>, tensor<i64>) -> tensor<4x2xi64>
func.return %result : tensor<4x2xi64>
}
// -----
func.func @shift_left_0(%lhs: tensor<3xi64>, %rhs: tensor<3xi64>) -> (tensor<3xi64>) {
%result = stablehlo.shift_left %lhs, %rhs : tensor<3xi64>
func.return %result : tensor<3xi64>
}
// -----
func.func @shift_right_arithmetic_0(%lhs: tensor<3xi64>, %rhs: tensor<3xi64>) -> (tensor<3xi64>) {
%result = stablehlo.shift_right_arithmetic %lhs, %rhs : tensor<3xi64>
func.return %result : tensor<3xi64>
}
// -----
func.func @shift_right_logical_0(%lhs: tensor<3xi64>, %rhs: tensor<3xi64>) -> (tensor<3xi64>) {
%result = stablehlo.shift_right_logical %lhs, %rhs : tensor<3xi64>
func.return %result : tensor<3xi64>
}
// -----
func.func @sign_0(%operand: tensor<3xi64>) -> (tensor<3xi64>) {
%result = stablehlo.sign %operand : tensor<3xi64>
func.return %result : tensor<3xi64>
}
// -----
func.func @sign_1(%operand: tensor<5xf64>) -> (tensor<5xf64>) {
%result = stablehlo.sign %operand : tensor<5xf64>
func.return %result : tensor<5xf64>
}
// -----
func.func @sign_2(%operand: tensor<4xcomplex<f64>>) -> (tensor<4xcomplex<f64>>) {
%result = stablehlo.sign %operand : tensor<4xcomplex<f64>>
func.return %result : tensor<4xcomplex<f64>>
}
// -----
func.func @sine_0(%0: tensor<11xbf16>) -> (tensor<11xbf16>) {
%1 = stablehlo.sine %0 : tensor<11xbf16>
func.return %1 : tensor<11xbf16>
}
// -----
func.func @sine_1(%0: tensor<11xf16>) -> (tensor<11xf16>) {
%1 = stablehlo.sine %0 : tensor<11xf16>
func.return %1 : tensor<11xf16>
}
// -----
func.func @sine_2(%0: tensor<11xf32>) -> (tensor<11xf32>) {
%1 = stablehlo.sine %0 : tensor<11xf32>
func.return %1 : tensor<11xf32>
}
// -----
func.func @sine_3(%0: tensor<11xf64>) -> (tensor<11xf64>) {
%1 = stablehlo.sine %0 : tensor<11xf64>
func.return %1 : tensor<11xf64>
}
// -----
func.func @sine_4(%0: tensor<2xcomplex<f32>>) -> (tensor<2xcomplex<f32>>) {
%1 = stablehlo.sine %0 : tensor<2xcomplex<f32>>
func.return %1 : tensor<2xcomplex<f32>>
}
// -----
func.func @sine_5(%0: tensor<2xcomplex<f64>>) -> (tensor<2xcomplex<f64>>) {
%1 = stablehlo.sine %0 : tensor<2xcomplex<f64>>
func.return %1 : tensor<2xcomplex<f64>>
}
// -----
func.func @slice_0(%operand: tensor<3x6xi64>) -> (tensor<2x2xi64>) {
%result = "stablehlo.slice"(%operand) {
start_indices = array<i64: 0, 2>,
limit_indices = array<i64: 3, 6>,
strides = array<i64: 2, 3>
} : (tensor<3x6xi64>) -> tensor<2x2xi64>
func.return %result : tensor<2x2xi64>
}
// -----
func.func @sort_0(%input0: tensor<2x3xi64>, %input1: tensor<2x3xi64>) -> (tensor<2x3xi64>, tensor<2x3xi64>) {
%result0, %result1 = "stablehlo.sort"(%input0, %input1) ({
^bb0(%arg0: tensor<i64>, %arg1: tensor<i64>, %arg2: tensor<i64>, %arg3: tensor<i64>):
%predicate = stablehlo.compare GT, %arg0, %arg1 : (tensor<i64>, tensor<i64>) -> tensor<i1>
stablehlo.return %predicate : tensor<i1>
}) {
dimension = 0 : i64,
is_stable = true
} : (tensor<2x3xi64>, tensor<2x3xi64>) -> (tensor<2x3xi64>, tensor<2x3xi64>)
func.return %result0, %result1 : tensor<2x3xi64>, tensor<2x3xi64>
}
// -----
func.func @sort_1(%input: tensor<5x7xi64>) -> (tensor<5x7xi64>) {
%result = "stablehlo.sort"(%input) <{dimension = 0 : i64}> ({
^bb0(%arg0: tensor<i64>, %arg1: tensor<i64>):
%1 = stablehlo.compare  LT, %arg0, %arg1,  SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
stablehlo.return %1 : tensor<i1>
}) : (tensor<5x7xi64>) -> tensor<5x7xi64>
func.return %result : tensor<5x7xi64>
}
// -----
func.func @sqrt_0(%operand: tensor<2x2xf64>) -> (tensor<2x2xf64>) {
%result = stablehlo.sqrt %operand : tensor<2x2xf64>
func.return %result : tensor<2x2xf64>
}
// -----
func.func @sqrt_1(%operand: tensor<2xcomplex<f64>>) -> (tensor<2xcomplex<f64>>) {
%result = stablehlo.sqrt %operand : tensor<2xcomplex<f64>>
func.return %result : tensor<2xcomplex<f64>>
}
// -----
func.func @subtract_0(%0: tensor<5xi4>, %1: tensor<5xi4>) -> (tensor<5xi4>) {
%2 = stablehlo.subtract %0, %1 : tensor<5xi4>
func.return %2 : tensor<5xi4>
}
// -----
func.func @subtract_1(%0: tensor<2xui4>, %1: tensor<2xui4>) -> (tensor<2xui4>) {
%2 = stablehlo.subtract %0, %1 : tensor<2xui4>
func.return %2 : tensor<2xui4>
}
// -----
func.func @subtract_2(%0: tensor<5xi8>, %1: tensor<5xi8>) -> (tensor<5xi8>) {
%2 = stablehlo.subtract %0, %1 : tensor<5xi8>
func.return %2 : tensor<5xi8>
}
// -----
func.func @subtract_3(%0: tensor<2xui8>, %1: tensor<2xui8>) -> (tensor<2xui8>) {
%2 = stablehlo.subtract %0, %1 : tensor<2xui8>
func.return %2 : tensor<2xui8>
}
// -----
func.func @subtract_4(%0: tensor<5xi16>, %1: tensor<5xi16>) -> (tensor<5xi16>) {
%2 = stablehlo.subtract %0, %1 : tensor<5xi16>
func.return %2 : tensor<5xi16>
}
// -----
func.func @subtract_5(%0: tensor<2xui16>, %1: tensor<2xui16>) -> (tensor<2xui16>) {
%2 = stablehlo.subtract %0, %1 : tensor<2xui16>
func.return %2 : tensor<2xui16>
}
// -----
func.func @subtract_6(%0: tensor<5xi32>, %1: tensor<5xi32>) -> (tensor<5xi32>) {
%2 = stablehlo.subtract %0, %1 : tensor<5xi32>
func.return %2 : tensor<5xi32>
}
// -----
func.func @subtract_7(%0: tensor<2xui32>, %1: tensor<2xui32>) -> (tensor<2xui32>) {
%2 = stablehlo.subtract %0, %1 : tensor<2xui32>
func.return %2 : tensor<2xui32>
}
// -----
func.func @subtract_8(%0: tensor<5xi64>, %1: tensor<5xi64>) -> (tensor<5xi64>) {
%2 = stablehlo.subtract %0, %1 : tensor<5xi64>
func.return %2 : tensor<5xi64>
}
// -----
func.func @subtract_9(%0: tensor<2xui64>, %1: tensor<2xui64>) -> (tensor<2xui64>) {
%2 = stablehlo.subtract %0, %1 : tensor<2xui64>
func.return %2 : tensor<2xui64>
}
// -----
func.func @subtract_10(%0: tensor<11xbf16>, %1: tensor<11xbf16>) -> (tensor<11xbf16>) {
%2 = stablehlo.subtract %0, %1 : tensor<11xbf16>
func.return %2 : tensor<11xbf16>
}
// -----
func.func @subtract_11(%0: tensor<11xf16>, %1: tensor<11xf16>) -> (tensor<11xf16>) {
%2 = stablehlo.subtract %0, %1 : tensor<11xf16>
func.return %2 : tensor<11xf16>
}
// -----
func.func @subtract_12(%0: tensor<11xf32>, %1: tensor<11xf32>) -> (tensor<11xf32>) {
%2 = stablehlo.subtract %0, %1 : tensor<11xf32>
func.return %2 : tensor<11xf32>
}
// -----
func.func @subtract_13(%0: tensor<11xf64>, %1: tensor<11xf64>) -> (tensor<11xf64>) {
%2 = stablehlo.subtract %0, %1 : tensor<11xf64>
func.return %2 : tensor<11xf64>
}
// -----
func.func @subtract_14(%0: tensor<2xcomplex<f32>>, %1: tensor<2xcomplex<f32>>) -> (tensor<2xcomplex<f32>>) {
%2 = stablehlo.subtract %0, %1 : tensor<2xcomplex<f32>>
func.return %2 : tensor<2xcomplex<f32>>
}
// -----
func.func @subtract_15(%0: tensor<2xcomplex<f64>>, %1: tensor<2xcomplex<f64>>) -> (tensor<2xcomplex<f64>>) {
%2 = stablehlo.subtract %0, %1 : tensor<2xcomplex<f64>>
func.return %2 : tensor<2xcomplex<f64>>
}
// -----
func.func @tan_0(%0: tensor<4xf64>) -> (tensor<4xf64>) {
%1 = stablehlo.tan %0 : tensor<4xf64>
func.return %1 : tensor<4xf64>
}
// -----
func.func @tanh_0(%0: tensor<11xbf16>) -> (tensor<11xbf16>) {
%1 = stablehlo.tanh %0 : tensor<11xbf16>
func.return %1 : tensor<11xbf16>
}
// -----
func.func @tanh_1(%0: tensor<11xf16>) -> (tensor<11xf16>) {
%1 = stablehlo.tanh %0 : tensor<11xf16>
func.return %1 : tensor<11xf16>
}
// -----
func.func @tanh_2(%0: tensor<11xf32>) -> (tensor<11xf32>) {
%1 = stablehlo.tanh %0 : tensor<11xf32>
func.return %1 : tensor<11xf32>
}
// -----
func.func @tanh_3(%0: tensor<11xf64>) -> (tensor<11xf64>) {
%1 = stablehlo.tanh %0 : tensor<11xf64>
func.return %1 : tensor<11xf64>
}
// -----
func.func @tanh_4(%0: tensor<2xcomplex<f32>>) -> (tensor<2xcomplex<f32>>) {
%1 = stablehlo.tanh %0 : tensor<2xcomplex<f32>>
func.return %1 : tensor<2xcomplex<f32>>
}
// -----
func.func @tanh_5(%0: tensor<2xcomplex<f64>>) -> (tensor<2xcomplex<f64>>) {
%1 = stablehlo.tanh %0 : tensor<2xcomplex<f64>>
func.return %1 : tensor<2xcomplex<f64>>
}
// -----
func.func @transpose_0(%0: tensor<2x3x2xi32>) -> (tensor<3x2x2xi32>) {
%1 = "stablehlo.transpose"(%0) {permutation = array<i64: 1,0,2>} : (tensor<2x3x2xi32>) -> tensor<3x2x2xi32>
func.return %1 : tensor<3x2x2xi32>
}
// -----
func.func @transpose_1(%0: tensor<2x3x2xi32>) -> (tensor<2x3x2xi32>) {
%1 = "stablehlo.transpose"(%0) {permutation = array<i64: 2,1,0>} : (tensor<2x3x2xi32>) -> tensor<2x3x2xi32>
func.return %1 : tensor<2x3x2xi32>
}
// -----
func.func @transpose_2(%0: tensor<2x3x2xi32>) -> (tensor<2x3x2xi32>) {
%1 = "stablehlo.transpose"(%0) {permutation = array<i64: 2,1,0>} : (tensor<2x3x2xi32>) -> tensor<2x3x2xi32>
%2 = "stablehlo.transpose"(%1) {permutation = array<i64: 2,1,0>} : (tensor<2x3x2xi32>) -> tensor<2x3x2xi32>
func.return %2 : tensor<2x3x2xi32>
}
// -----
func.func @triangular_solve_0(%a: tensor<3x3xf32>, %b: tensor<3x1xf32>) -> (tensor<3x1xf32>) {
%result = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
func.return %result : tensor<3x1xf32>
}
// -----
func.func @triangular_solve_1(%a: tensor<3x3xf32>, %b: tensor<3x1xf32>) -> (tensor<3x1xf32>) {
%result = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = false, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
func.return %result : tensor<3x1xf32>
}
// -----
func.func @triangular_solve_2(%a: tensor<3x3xf32>, %b: tensor<1x3xf32>) -> (tensor<1x3xf32>) {
%result = "stablehlo.triangular_solve"(%a, %b) {left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
func.return %result : tensor<1x3xf32>
}
// -----
func.func @triangular_solve_3(%a: tensor<3x3xf32>, %b: tensor<1x3xf32>) -> (tensor<1x3xf32>) {
%result = "stablehlo.triangular_solve"(%a, %b) {left_side = false, lower = false, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
func.return %result : tensor<1x3xf32>
}
// -----
func.func @triangular_solve_4(%a: tensor<3x3xf32>, %b: tensor<3x1xf32>) -> (tensor<3x1xf32>) {
%result = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
func.return %result : tensor<3x1xf32>
}
// -----
func.func @triangular_solve_5(%a: tensor<3x3xf32>, %b: tensor<3x1xf32>) -> (tensor<3x1xf32>) {
%result = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = false, unit_diagonal = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
func.return %result : tensor<3x1xf32>
}
// -----
func.func @triangular_solve_6(%a: tensor<3x3xf32>, %b: tensor<1x3xf32>) -> (tensor<1x3xf32>) {
%result = "stablehlo.triangular_solve"(%a, %b) {left_side = false, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
func.return %result : tensor<1x3xf32>
}
// -----
func.func @triangular_solve_7(%a: tensor<3x3xf32>, %b: tensor<1x3xf32>) -> (tensor<1x3xf32>) {
%result = "stablehlo.triangular_solve"(%a, %b) {left_side = false, lower = false, unit_diagonal = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
func.return %result : tensor<1x3xf32>
}
// -----
func.func @triangular_solve_8(%a: tensor<3x3xf32>, %b: tensor<3x1xf32>) -> (tensor<3x1xf32>) {
%result = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>} : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
func.return %result : tensor<3x1xf32>
}
// -----
func.func @triangular_solve_9(%a: tensor<3x3xf32>, %b: tensor<3x1xf32>) -> (tensor<3x1xf32>) {
%result = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = false, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>} : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
func.return %result : tensor<3x1xf32>
}
// -----
func.func @triangular_solve_10(%a: tensor<3x3xf32>, %b: tensor<1x3xf32>) -> (tensor<1x3xf32>) {
%result = "stablehlo.triangular_solve"(%a, %b) {left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>} : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
func.return %result : tensor<1x3xf32>
}
// -----
func.func @triangular_solve_11(%a: tensor<3x3xf32>, %b: tensor<1x3xf32>) -> (tensor<1x3xf32>) {
%result = "stablehlo.triangular_solve"(%a, %b) {left_side = false, lower = false, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>} : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
func.return %result : tensor<1x3xf32>
}
// -----
func.func @triangular_solve_12(%a: tensor<3x3xf32>, %b: tensor<3x1xf32>) -> (tensor<3x1xf32>) {
%result = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose TRANSPOSE>} : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
func.return %result : tensor<3x1xf32>
}
// -----
func.func @triangular_solve_13(%a: tensor<3x3xf32>, %b: tensor<3x1xf32>) -> (tensor<3x1xf32>) {
%result = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = false, unit_diagonal = true, transpose_a = #stablehlo<transpose TRANSPOSE>} : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
func.return %result : tensor<3x1xf32>
}
// -----
func.func @triangular_solve_14(%a: tensor<3x3xf32>, %b: tensor<1x3xf32>) -> (tensor<1x3xf32>) {
%result = "stablehlo.triangular_solve"(%a, %b) {left_side = false, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose TRANSPOSE>} : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
func.return %result : tensor<1x3xf32>
}
// -----
func.func @triangular_solve_15(%a: tensor<3x3xf32>, %b: tensor<1x3xf32>) -> (tensor<1x3xf32>) {
%result = "stablehlo.triangular_solve"(%a, %b) {left_side = false, lower = false, unit_diagonal = true, transpose_a = #stablehlo<transpose TRANSPOSE>} : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
func.return %result : tensor<1x3xf32>
}
// -----
func.func @triangular_solve_16(%a: tensor<3x3xf32>, %b: tensor<3x1xf32>) -> (tensor<3x1xf32>) {
%result = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
func.return %result : tensor<3x1xf32>
}
// -----
func.func @triangular_solve_17(%a: tensor<3x3xf32>, %b: tensor<3x1xf32>) -> (tensor<3x1xf32>) {
%result = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = false, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
func.return %result : tensor<3x1xf32>
}
// -----
func.func @triangular_solve_18(%a: tensor<3x3xf32>, %b: tensor<1x3xf32>) -> (tensor<1x3xf32>) {
%result = "stablehlo.triangular_solve"(%a, %b) {left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
func.return %result : tensor<1x3xf32>
}
// -----
func.func @triangular_solve_19(%a: tensor<3x3xf32>, %b: tensor<1x3xf32>) -> (tensor<1x3xf32>) {
%result = "stablehlo.triangular_solve"(%a, %b) {left_side = false, lower = false, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
func.return %result : tensor<1x3xf32>
}
// -----
func.func @triangular_solve_20(%a: tensor<3x3xf32>, %b: tensor<3x1xf32>) -> (tensor<3x1xf32>) {
%result = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>} : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
func.return %result : tensor<3x1xf32>
}
// -----
func.func @triangular_solve_21(%a: tensor<3x3xf32>, %b: tensor<3x1xf32>) -> (tensor<3x1xf32>) {
%result = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = false, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>} : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
func.return %result : tensor<3x1xf32>
}
// -----
func.func @triangular_solve_22(%a: tensor<3x3xf32>, %b: tensor<1x3xf32>) -> (tensor<1x3xf32>) {
%result = "stablehlo.triangular_solve"(%a, %b) {left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>} : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
func.return %result : tensor<1x3xf32>
}
// -----
func.func @triangular_solve_23(%a: tensor<3x3xf32>, %b: tensor<1x3xf32>) -> (tensor<1x3xf32>) {
%result = "stablehlo.triangular_solve"(%a, %b) {left_side = false, lower = false, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>} : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
func.return %result : tensor<1x3xf32>
}
// -----
func.func @triangular_solve_24(%a: tensor<3x3xf32>, %b: tensor<3x3xf32>) -> (tensor<3x3xf32>) {
%result = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
func.return %result : tensor<3x3xf32>
}
// -----
func.func @triangular_solve_25(%a: tensor<3x3xcomplex<f32>>, %b: tensor<3x1xcomplex<f32>>) -> (tensor<3x1xcomplex<f32>>) {
%result = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<3x3xcomplex<f32>>, tensor<3x1xcomplex<f32>>) -> tensor<3x1xcomplex<f32>>
func.return %result : tensor<3x1xcomplex<f32>>
}
// -----
func.func @triangular_solve_26(%a: tensor<3x3xcomplex<f32>>, %b: tensor<3x1xcomplex<f32>>) -> (tensor<3x1xcomplex<f32>>) {
%result = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose ADJOINT>} : (tensor<3x3xcomplex<f32>>, tensor<3x1xcomplex<f32>>) -> tensor<3x1xcomplex<f32>>
func.return %result : tensor<3x1xcomplex<f32>>
}
// -----
func.func @tuple_and_get_tuple_element_1(%val0: tensor<2xf64>, %tmp0: tensor<i64>) -> (tensor<2xf64>, tensor<i64>) {
%val1 = stablehlo.tuple %tmp0 : tuple<tensor<i64>>
%operand = stablehlo.tuple %val0, %val1 : tuple<tensor<2xf64>, tuple<tensor<i64>>>
%result0 = stablehlo.get_tuple_element %operand[0] : (tuple<tensor<2xf64>, tuple<tensor<i64>>>) -> tensor<2xf64>
%tmp1 = stablehlo.get_tuple_element %operand[1] : (tuple<tensor<2xf64>, tuple<tensor<i64>>>) -> tuple<tensor<i64>>
%result1 = stablehlo.get_tuple_element %tmp1[0] : (tuple<tensor<i64>>) -> tensor<i64>
func.return %result0, %result1 : tensor<2xf64>, tensor<i64>
}
// -----
func.func @while_0(%init_i: tensor<i64>, %init_sum: tensor<i64>, %one: tensor<i64>, %ten: tensor<i64>) -> (tensor<i64>, tensor<i64>) {
%results0, %results1 = stablehlo.while(%arg0 = %init_i, %arg1 = %init_sum) : tensor<i64>, tensor<i64>
cond {
%cond = stablehlo.compare LT, %arg0, %ten : (tensor<i64>, tensor<i64>) -> tensor<i1>
stablehlo.return %cond : tensor<i1>
} do {
%new_sum = stablehlo.add %arg1, %one : tensor<i64>
%new_i = stablehlo.add %arg0, %one : tensor<i64>
stablehlo.return %new_i, %new_sum : tensor<i64>, tensor<i64>
}
func.return %results0, %results1 : tensor<i64>, tensor<i64>
}
// -----
func.func @xor_0(%0: tensor<3xi4>, %1: tensor<3xi4>) -> (tensor<3xi4>) {
%2 = stablehlo.xor %0, %1 : tensor<3xi4>
func.return %2 : tensor<3xi4>
}
// -----
func.func @xor_1(%0: tensor<3xui4>, %1: tensor<3xui4>) -> (tensor<3xui4>) {
%2 = stablehlo.xor %0, %1 : tensor<3xui4>
func.return %2 : tensor<3xui4>
}
// -----
func.func @xor_2(%0: tensor<3xi8>, %1: tensor<3xi8>) -> (tensor<3xi8>) {
%2 = stablehlo.xor %0, %1 : tensor<3xi8>
func.return %2 : tensor<3xi8>
}
// -----
func.func @xor_3(%0: tensor<3xui8>, %1: tensor<3xui8>) -> (tensor<3xui8>) {
%2 = stablehlo.xor %0, %1 : tensor<3xui8>
func.return %2 : tensor<3xui8>
}
// -----
func.func @xor_4(%0: tensor<3xi16>, %1: tensor<3xi16>) -> (tensor<3xi16>) {
%2 = stablehlo.xor %0, %1 : tensor<3xi16>
func.return %2 : tensor<3xi16>
}
// -----
func.func @xor_5(%0: tensor<3xui16>, %1: tensor<3xui16>) -> (tensor<3xui16>) {
%2 = stablehlo.xor %0, %1 : tensor<3xui16>
func.return %2 : tensor<3xui16>
}
// -----
func.func @xor_6(%0: tensor<3xi32>, %1: tensor<3xi32>) -> (tensor<3xi32>) {
%2 = stablehlo.xor %0, %1 : tensor<3xi32>
func.return %2 : tensor<3xi32>
}
// -----
func.func @xor_7(%0: tensor<3xui32>, %1: tensor<3xui32>) -> (tensor<3xui32>) {
%2 = stablehlo.xor %0, %1 : tensor<3xui32>
func.return %2 : tensor<3xui32>
}
// -----
func.func @xor_8(%0: tensor<3xi64>, %1: tensor<3xi64>) -> (tensor<3xi64>) {
%2 = stablehlo.xor %0, %1 : tensor<3xi64>
func.return %2 : tensor<3xi64>
}
// -----
func.func @xor_9(%0: tensor<3xui64>, %1: tensor<3xui64>) -> (tensor<3xui64>) {
%2 = stablehlo.xor %0, %1 : tensor<3xui64>
func.return %2 : tensor<3xui64>
}
// -----
func.func @xor_10(%0: tensor<4xi1>, %1: tensor<4xi1>) -> (tensor<4xi1>) {
%2 = stablehlo.xor %0, %1 : tensor<4xi1>
func.return %2 : tensor<4xi1>
}
// -----
func.func @xor_11(%0: tensor<2xi1>, %1: tensor<2xi1>) -> (tensor<2xi1>) {
%2 = stablehlo.xor %0, %1 : tensor<2xi1>
func.return %2 : tensor<2xi1>
}
// -----
func.func @xor_12(%0: tensor<2xi1>, %1: tensor<2xi1>) -> (tensor<2xi1>) {
%2 = stablehlo.xor %0, %1 : tensor<2xi1>
func.return %2 : tensor<2xi1>
}
