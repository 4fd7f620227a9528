import protobuf from 'protobufjs'

// The part of https://github.com/onnx/onnx/blob/main/onnx/onnx.proto that these models use.
const { root } = protobuf.parse(
  `
syntax = "proto2";
package onnx;
message AttributeProto {
  optional string name = 1; optional float f = 2; optional int64 i = 3; optional bytes s = 4;
  repeated float floats = 7; repeated int64 ints = 8; optional int32 type = 20;
}
message ValueInfoProto { optional string name = 1; optional TypeProto type = 2; }
message TypeProto {
  message Tensor { optional int32 elem_type = 1; optional TensorShapeProto shape = 2; }
  optional Tensor tensor_type = 1;
}
message TensorShapeProto {
  message Dimension { optional int64 dim_value = 1; }
  repeated Dimension dim = 1;
}
message TensorProto { repeated int64 dims = 1; optional int32 data_type = 2; optional string name = 8; optional bytes raw_data = 9; }
message NodeProto {
  repeated string input = 1; repeated string output = 2; optional string name = 3; optional string op_type = 4;
  repeated AttributeProto attribute = 5; optional string domain = 7;
}
message GraphProto {
  repeated NodeProto node = 1; optional string name = 2; repeated TensorProto initializer = 5;
  repeated ValueInfoProto input = 11; repeated ValueInfoProto output = 12; repeated ValueInfoProto value_info = 13;
}
message OperatorSetIdProto { optional string domain = 1; optional int64 version = 2; }
message ModelProto { optional int64 ir_version = 1; optional GraphProto graph = 7; repeated OperatorSetIdProto opset_import = 8; }
`,
  { keepCase: true },
)
const Model = root.lookupType('onnx.ModelProto')

/** ONNX's numbers for element types. */
const elementTypes = { float32: 1, uint8: 2, int32: 6, int64: 7, bool: 9, float16: 10 } as const
export type ElementName = keyof typeof elementTypes

export interface TensorType {
  readonly type?: ElementName
  readonly dims: readonly number[]
}

export interface Constant extends TensorType {
  readonly data: Float32Array | BigInt64Array | Uint8Array | Int32Array
}

export interface Node {
  readonly op: string
  /** `com.microsoft` has the operators that ONNX Runtime adds. */
  readonly domain?: 'com.microsoft'
  /** Names; '' for an optional input that is omitted. */
  readonly inputs: readonly string[]
  readonly outputs: readonly string[]
  readonly attributes?: Readonly<
    Record<string, number | readonly number[] | string | { readonly float: number }>
  >
}

export interface Graph {
  readonly nodes: readonly Node[]
  readonly inputs: Readonly<Record<string, TensorType>>
  readonly outputs: Readonly<Record<string, TensorType>>
  /** The types of intermediate values, for runtimes that do not infer them. */
  readonly between?: Readonly<Record<string, TensorType>>
  readonly constants?: Readonly<Record<string, Constant>>
}

const valueInfo = ([name, { type = 'float32', dims }]: [string, TensorType]) => ({
  name,
  type: {
    tensor_type: {
      elem_type: elementTypes[type],
      shape: { dim: dims.map((dim_value) => ({ dim_value })) },
    },
  },
})

function attribute([name, value]: [
  string,
  number | readonly number[] | string | { readonly float: number },
]) {
  if (typeof value === 'number') return { name, i: value, type: 2 }
  if (typeof value === 'string') return { name, s: new TextEncoder().encode(value), type: 3 }
  if ('float' in value) return { name, f: value.float, type: 1 }
  return { name, ints: value, type: 7 }
}

/** The bytes of an ONNX file. */
export function onnxModel(
  { nodes, inputs, outputs, between = {}, constants = {} }: Graph,
  opset = 17,
): Uint8Array {
  return Model.encode(
    Model.create({
      ir_version: 8,
      opset_import: [
        { domain: '', version: opset },
        ...(nodes.some(({ domain }) => domain !== undefined)
          ? [{ domain: 'com.microsoft', version: 1 }]
          : []),
      ],
      graph: {
        name: 'graph',
        node: nodes.map(({ op, domain, inputs, outputs, attributes = {} }, i) => ({
          name: `${op} ${i}`,
          op_type: op,
          input: inputs,
          output: outputs,
          domain: domain ?? '',
          attribute: Object.entries(attributes).map(attribute),
        })),
        initializer: Object.entries(constants).map(([name, { type = 'float32', dims, data }]) => ({
          name,
          dims,
          data_type: elementTypes[type],
          raw_data: new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
        })),
        input: Object.entries(inputs).map(valueInfo),
        output: Object.entries(outputs).map(valueInfo),
        value_info: Object.entries(between).map(valueInfo),
      },
    }),
  ).finish()
}
