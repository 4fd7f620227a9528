import { type OnnxRuntime, testOnnxRuntime } from './onnx-suite.ts'

testOnnxRuntime('its native WebGPU provider', () => import('onnxruntime-web/webgpu') as Promise<OnnxRuntime>)
