export type * from './ir.ts'
export { builtinFunctions } from './ir.ts'
export { alignOf, sizeOf } from './layout.ts'
export {
  arrayType,
  atomicType,
  boolType,
  f16Type,
  f32Type,
  i32Type,
  matrixType,
  pointerType,
  scalarType,
  typeName,
  u32Type,
  vectorType,
} from './types.ts'
export {
  type PlaceUse,
  rootOf,
  type Visitor,
  walk,
  walkExpression,
  walkPlace,
  walkStatement,
} from './walk.ts'
