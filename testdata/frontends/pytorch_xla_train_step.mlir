// Written by hand, in the shape that PyTorch/XLA exports: one step of SGD with momentum on
// relu(x @ w1.T + b1) @ w2.T + b2 under the mean squared error. Nothing has a name.
// Arguments, as a walk back from the loss meets them: target, b2, w2, b1, w1, x, the momentum,
// the buffer of w1, minus the rate, then the buffers of b1, w2 and b2.
// Results, as they were made: the loss; for each layer, last first, the gradients of w.T, of b
// as a row, of b and of w; for w1, b1, w2 and b2 the new buffer and the new value.
module @IrToHlo.79 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<16x8xf32>, %arg1: tensor<8xf32>, %arg2: tensor<8x64xf32>, %arg3: tensor<64xf32>, %arg4: tensor<64x32xf32>, %arg5: tensor<16x32xf32>, %arg6: tensor<f32>, %arg7: tensor<64x32xf32>, %arg8: tensor<f32>, %arg9: tensor<64xf32>, %arg10: tensor<8x64xf32>, %arg11: tensor<8xf32>) -> (tensor<f32>, tensor<64x8xf32>, tensor<1x8xf32>, tensor<8xf32>, tensor<8x64xf32>, tensor<32x64xf32>, tensor<1x64xf32>, tensor<64xf32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<64xf32>, tensor<64xf32>, tensor<8x64xf32>, tensor<8x64xf32>, tensor<8xf32>, tensor<8xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<16x64xf32>
    %cst_1 = stablehlo.constant dense<7.812500e-03> : tensor<f32>
    %cst_2 = stablehlo.constant dense<1.562500e-02> : tensor<16x8xf32>
    %0 = stablehlo.transpose %arg4, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[32,64]{0,1}"} : (tensor<64x32xf32>) -> tensor<32x64xf32>
    %1 = stablehlo.dot_general %arg5, %0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xf32>, tensor<32x64xf32>) -> tensor<16x64xf32>
    %2 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<64xf32>) -> tensor<16x64xf32>
    %3 = stablehlo.add %1, %2 : tensor<16x64xf32>
    %4 = stablehlo.maximum %3, %cst_0 : tensor<16x64xf32>
    %5 = stablehlo.transpose %arg2, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[64,8]{0,1}"} : (tensor<8x64xf32>) -> tensor<64x8xf32>
    %6 = stablehlo.dot_general %4, %5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x64xf32>, tensor<64x8xf32>) -> tensor<16x8xf32>
    %7 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<8xf32>) -> tensor<16x8xf32>
    %8 = stablehlo.add %6, %7 : tensor<16x8xf32>
    %9 = stablehlo.subtract %8, %arg0 : tensor<16x8xf32>
    %10 = stablehlo.multiply %9, %9 : tensor<16x8xf32>
    %11 = stablehlo.reduce(%10 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x8xf32>, tensor<f32>) -> tensor<f32>
    %12 = stablehlo.multiply %11, %cst_1 : tensor<f32>
    %13 = stablehlo.multiply %9, %cst_2 : tensor<16x8xf32>
    %14 = stablehlo.transpose %4, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[64,16]{0,1}"} : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %15 = stablehlo.dot_general %14, %13, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x16xf32>, tensor<16x8xf32>) -> tensor<64x8xf32>
    %16 = stablehlo.reduce(%13 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<16x8xf32>, tensor<f32>) -> tensor<8xf32>
    %17 = stablehlo.reshape %16 : (tensor<8xf32>) -> tensor<1x8xf32>
    %18 = stablehlo.reshape %17 : (tensor<1x8xf32>) -> tensor<8xf32>
    %19 = stablehlo.transpose %15, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[8,64]{0,1}"} : (tensor<64x8xf32>) -> tensor<8x64xf32>
    %20 = stablehlo.dot_general %13, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x8xf32>, tensor<8x64xf32>) -> tensor<16x64xf32>
    %21 = stablehlo.compare  GT, %4, %cst_0 : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xi1>
    %22 = stablehlo.select %21, %20, %cst_0 : tensor<16x64xi1>, tensor<16x64xf32>
    %23 = stablehlo.transpose %arg5, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[32,16]{0,1}"} : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %24 = stablehlo.dot_general %23, %22, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x16xf32>, tensor<16x64xf32>) -> tensor<32x64xf32>
    %25 = stablehlo.reduce(%22 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<16x64xf32>, tensor<f32>) -> tensor<64xf32>
    %26 = stablehlo.reshape %25 : (tensor<64xf32>) -> tensor<1x64xf32>
    %27 = stablehlo.reshape %26 : (tensor<1x64xf32>) -> tensor<64xf32>
    %28 = stablehlo.transpose %24, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[64,32]{0,1}"} : (tensor<32x64xf32>) -> tensor<64x32xf32>
    %29 = stablehlo.broadcast_in_dim %arg6, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %30 = stablehlo.multiply %arg7, %29 : tensor<64x32xf32>
    %31 = stablehlo.add %30, %28 : tensor<64x32xf32>
    %32 = stablehlo.broadcast_in_dim %arg8, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %33 = stablehlo.multiply %31, %32 : tensor<64x32xf32>
    %34 = stablehlo.add %arg4, %33 : tensor<64x32xf32>
    %35 = stablehlo.broadcast_in_dim %arg6, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %36 = stablehlo.multiply %arg9, %35 : tensor<64xf32>
    %37 = stablehlo.add %36, %27 : tensor<64xf32>
    %38 = stablehlo.broadcast_in_dim %arg8, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %39 = stablehlo.multiply %37, %38 : tensor<64xf32>
    %40 = stablehlo.add %arg3, %39 : tensor<64xf32>
    %41 = stablehlo.broadcast_in_dim %arg6, dims = [] : (tensor<f32>) -> tensor<8x64xf32>
    %42 = stablehlo.multiply %arg10, %41 : tensor<8x64xf32>
    %43 = stablehlo.add %42, %19 : tensor<8x64xf32>
    %44 = stablehlo.broadcast_in_dim %arg8, dims = [] : (tensor<f32>) -> tensor<8x64xf32>
    %45 = stablehlo.multiply %43, %44 : tensor<8x64xf32>
    %46 = stablehlo.add %arg2, %45 : tensor<8x64xf32>
    %47 = stablehlo.broadcast_in_dim %arg6, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %48 = stablehlo.multiply %arg11, %47 : tensor<8xf32>
    %49 = stablehlo.add %48, %18 : tensor<8xf32>
    %50 = stablehlo.broadcast_in_dim %arg8, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %51 = stablehlo.multiply %49, %50 : tensor<8xf32>
    %52 = stablehlo.add %arg1, %51 : tensor<8xf32>
    return %12, %15, %17, %18, %19, %24, %26, %27, %28, %31, %34, %37, %40, %43, %46, %49, %52 : tensor<f32>, tensor<64x8xf32>, tensor<1x8xf32>, tensor<8xf32>, tensor<8x64xf32>, tensor<32x64xf32>, tensor<1x64xf32>, tensor<64xf32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<64xf32>, tensor<64xf32>, tensor<8x64xf32>, tensor<8x64xf32>, tensor<8xf32>, tensor<8xf32>
  }
}
