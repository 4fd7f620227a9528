import { boundVariables } from '../bound-variables.ts'
import type { ValueFunction } from '../builtin-functions.ts'
import { subgroupSize } from '../collectives.ts'
import type { Expression, Index, IndexPlace, IrModule, Type } from '../ir.ts'
import { sizeOf } from '../layout.ts'
import { componentFunction, wholeFunction } from '../values/functions.ts'
import {
  binaryFunction,
  bitcastValue,
  convertScalar,
  mapComponents,
  multiplyMatrix,
} from '../values/operators.ts'
import { emitModule } from './emit.ts'
import { type ExecutionObserver, Instrumentation } from './instrumentation.ts'
import { type AccessObserver, BoundMemory, cloneValue, type Value, zeroValue } from './memory.ts'
import * as subgroupMatrices from './subgroup-matrix.ts'
import { type Invoked, runTogether } from './workgroup.ts'

export type { ExecutionObserver } from './instrumentation.ts'
export type { AccessObserver } from './memory.ts'

/** Takes a few milliseconds. */
const roundsBetweenLooks = 10_000

/** One run of a `ReferenceKernel`. */
export interface ReferenceDispatch {
  /** The number of workgroups along each axis. */
  readonly workgroups: readonly [x: number, y: number, z: number]
  /** The memory of each binding, by `group.binding`; storage is written in place. */
  readonly bindings: ReadonlyMap<string, Uint8Array>
  /** Called before every access to a binding; throw to stop the dispatch. */
  readonly onAccess?: AccessObserver
  /** Called at intervals, at any point in the kernel's loops; throw to stop the dispatch. */
  readonly onLook?: (() => void) | undefined
}

/** A kernel that runs in JavaScript, one invocation after another up to each barrier. */
export interface ReferenceKernel {
  run(dispatch: ReferenceDispatch): void
}

/** Options of `compileReference`. */
export interface ReferenceOptions {
  /** Is notified of what each invocation does. Default: none. */
  readonly observer?: ExecutionObserver | undefined
  /**
   * Called instead of clamping for an index outside the `length` elements of an array in the storage
   * variable, and for a view that begins at byte `index` and does not fit into the `length` bytes of a buffer.
   * Must throw.
   */
  readonly onOutside?: ((variable: string, index: number, length: number) => never) | undefined
}

/**
 * Compiles an entry point to JavaScript: the executable definition of the IR, for tests and for machines
 * without a GPU. Out-of-bounds indices are clamped, workgroup memory is zeroed, subgroups have 32 invocations.
 */
export function compileReference(module: IrModule, options: ReferenceOptions = {}): ReferenceKernel {
  const { observer, onOutside } = options
  const instrumentation = new Instrumentation(observer !== undefined, onOutside !== undefined)
  const emitted = emitModule(module, instrumentation)
  const runtime = {
    zero: zeroValue,
    clone: cloneValue,
    map: mapComponents,
    binary: lazyTable(binaryFunction),
    component: lazyTable(componentFunction),
    whole: lazyTable((name, kind) => wholeFunction(name as ValueFunction, kind)),
    multiply: multiplyMatrix,
    convert: convertScalar,
    bitcast: bitcastValue,
    columns: (values: Value[], rows: number) =>
      Array.from({ length: values.length / rows }, (_, c) => values.slice(c * rows, (c + 1) * rows)),
    clampIndex,
    outside: onOutside,
    trapIndex(index: number, length: number, variable: string) {
      return index >= 0 && index < length ? index : onOutside!(variable, index, length)
    },
    ...subgroupMatrices,
    /** Loop iterations until the next call of `look`. */
    rounds: roundsBetweenLooks,
    look: () => {},
  }
  const observed = observer && {
    ...observer,
    value(e: Expression, value: number) {
      observer.value(e, value)
      return value
    },
    clamped(access: IndexPlace | Index, index: number, length: number) {
      observer.indexed(access, index, length)
      return clampIndex(index, length)
    },
  }
  const instantiate = instantiator(emitted.body)
  const bound = boundVariables(module)
  const shared = module.variables.filter((v) => v.space === 'workgroup')

  return {
    run({ workgroups, bindings, onAccess, onLook }) {
      runtime.look = () => {
        runtime.rounds = roundsBetweenLooks
        onLook?.()
      }
      const memory: BoundMemory[] = []
      for (const variable of bound) {
        const key = `${variable.binding.group}.${variable.binding.binding}`
        const bytes = bindings.get(key)
        if (bytes === undefined) throw new TypeError(`nothing is bound to ${key} (${variable.name})`)
        memory[variable.id] = new BoundMemory(key, bytes, onAccess)
      }
      const instance = instantiate(runtime, emitted.types, observed, instrumentation.nodes, memory)
      for (let z = 0; z < workgroups[2]; z++)
        for (let y = 0; y < workgroups[1]; y++)
          for (let x = 0; x < workgroups[0]; x++) {
            if (runtime.rounds-- === 0) runtime.look()
            const workgroup: (Value | BoundMemory)[] = []
            for (const { id, type } of shared)
              workgroup[id] =
                type.kind === 'buffer'
                  ? new BoundMemory('', new Uint8Array(sizeOf(type)), undefined)
                  : zeroValue(type)
            runWorkgroup(module, instance, emitted.meets, [x, y, z], workgroups, workgroup)
          }
    },
  }
}

/**
 * Instantiates emitted JavaScript with the runtime `R`, types `T`, an observer `O`, nodes `N` and memory `m`.
 */
type Instantiate = (
  r: object,
  t: readonly Type[],
  o: object | undefined,
  n: readonly object[],
  m: readonly BoundMemory[],
) => Instance

/**
 * A cache of recently compiled texts, so that a program that several groups compile becomes machine code only
 * once.
 */
const instantiators = new Map<string, Instantiate>()

function instantiator(body: string): Instantiate {
  const made =
    instantiators.get(body) ??
    (new Function('R', 'T', 'O', 'N', 'm', `'use strict';\n${body}`) as Instantiate)
  instantiators.delete(body)
  instantiators.set(body, made)
  if (instantiators.size > 256) instantiators.delete(instantiators.keys().next().value!)
  return made
}

/** Treats an index as unsigned, like Dawn: a negative index selects the last element. */
function clampIndex(index: number, length: number): number {
  return index < 0 || index >= length ? Math.max(length - 1, 0) : index
}

/** The object that the emitted JavaScript returns. */
interface Instance {
  entry: (invocation: Invocation) => Invoked | undefined
  privates: readonly (readonly [id: number, initial: () => Value])[]
}

interface Invocation {
  local_invocation_id: readonly number[]
  local_invocation_index: number
  global_invocation_id: readonly number[]
  global_invocation_index: number
  workgroup_id: readonly number[]
  workgroup_index: number
  num_workgroups: readonly number[]
  subgroup_invocation_id: number
  subgroup_size: number
  subgroup_id: number
  num_subgroups: number
  workgroup: (Value | BoundMemory)[]
  private: Value[]
}

function runWorkgroup(
  module: IrModule,
  instance: Instance,
  meets: boolean,
  id: readonly [number, number, number],
  count: readonly [number, number, number],
  workgroup: (Value | BoundMemory)[],
): void {
  const [sizeX, sizeY, sizeZ] = module.workgroupSize
  const workgroupIndex = id[0] + count[0] * (id[1] + count[1] * id[2])
  const waiting: Invoked[] = []
  for (let z = 0, index = 0; z < sizeZ; z++)
    for (let y = 0; y < sizeY; y++)
      for (let x = 0; x < sizeX; x++, index++) {
        const memory: Value[] = []
        for (const [variable, initial] of instance.privates) memory[variable] = initial()
        const invocation: Invocation = {
          local_invocation_id: [x, y, z],
          local_invocation_index: index,
          global_invocation_id: [id[0] * sizeX + x, id[1] * sizeY + y, id[2] * sizeZ + z],
          global_invocation_index:
            id[0] * sizeX +
            x +
            count[0] * sizeX * (id[1] * sizeY + y + count[1] * sizeY * (id[2] * sizeZ + z)),
          workgroup_id: id,
          workgroup_index: workgroupIndex,
          num_workgroups: count,
          subgroup_invocation_id: index % subgroupSize,
          subgroup_size: subgroupSize,
          subgroup_id: Math.floor(index / subgroupSize),
          num_subgroups: Math.ceil((sizeX * sizeY * sizeZ) / subgroupSize),
          workgroup,
          private: memory,
        }
        const started = instance.entry(invocation)
        if (meets) waiting.push(started as Invoked)
      }
  if (meets) runTogether(module.label, waiting)
}

/** A table that creates its entries, by operation and scalar kind, at first use. */
function lazyTable<T>(make: (operation: string, kind: string) => T): Record<string, T> {
  return new Proxy<Record<string, T>>(
    {},
    {
      get(target, key: string) {
        const [operation, kind] = key.split(' ') as [string, string]
        target[key] ??= make(operation, kind)
        return target[key]
      },
    },
  )
}
