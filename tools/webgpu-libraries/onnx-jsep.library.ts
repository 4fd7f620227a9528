import { type OnnxRuntime, testOnnxRuntime } from './onnx-suite.ts'

testOnnxRuntime('its provider in JavaScript', () => import('onnxruntime-web/all') as Promise<OnnxRuntime>)
