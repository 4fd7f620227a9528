import type { Backend } from '../backend/backend.ts'
import type { LiveHandles, LostInfo, Runtime } from '../backend/runtime.ts'

/**
 * As many virtual devices are opened of one adapter, so that groups of different numbers of devices share a
 * runtime.
 */
const virtualDevices = 16

/**
 * The backend, with runtimes that stay open, and keep every kernel that they have compiled, until the process
 * ends. Groups that tests open on it one after another then compile a kernel once, which on a CPU adapter is
 * most of what they do. `DeviceGroup.destroy` resolves with `failures` if the group leaves something
 * behind. With `peerAccess` false, devices are denied one another's memory.
 */
export function openedOnce(
  backend: Backend<Runtime>,
  { peerAccess = true }: { readonly peerAccess?: boolean } = {},
): Backend<Runtime> {
  const runtimes = sharedRuntimes(backend)
  return {
    name: backend.name,
    adapters: () => backend.adapters(),
    get topology() {
      return backend.topology
    },
    // What a link opens belongs to the processes of one group.
    get links() {
      return backend.links
    },
    async open(adapters, options) {
      const isOne = adapters.every(({ id }) => id === adapters[0]?.id)
      const missing = isOne ? Math.max(0, virtualDevices - adapters.length) : 0
      const all = [...adapters, ...Array.from({ length: missing }, () => adapters[0]!)]
      const key = all.map(({ id }) => id).join()
      let opening = runtimes.get(key)
      if (opening === undefined) {
        opening = backend.open(all, options)
        runtimes.set(key, opening)
        const forget = () => void runtimes.delete(key)
        opening.then(({ lost }) => lost.then(forget), forget)
      }
      return lend(await opening, adapters.length, peerAccess)
    },
  }
}

const runtimesOf = new WeakMap<Backend<Runtime>, Map<string, Promise<Runtime>>>()

/** The open runtimes of a backend, by the ids of their adapters. */
function sharedRuntimes(backend: Backend<Runtime>): Map<string, Promise<Runtime>> {
  let runtimes = runtimesOf.get(backend)
  if (runtimes === undefined) {
    runtimes = new Map()
    runtimesOf.set(backend, runtimes)
  }
  return runtimes
}

/**
 * The first devices of a runtime, as a runtime that knows what it has given out, and stays open when it is
 * disposed.
 */
function lend(runtime: Runtime, devices: number, peerAccess: boolean): Runtime {
  const live = {
    allocations: new Set<unknown>(),
    hostAllocations: new Set<unknown>(),
    kernels: new Set<unknown>(),
    executables: new Set<unknown>(),
  }
  let resolveLost: (info: LostInfo) => void
  const lost = new Promise<LostInfo>((resolve) => {
    resolveLost = resolve
  })
  void runtime.lost.then((info) => resolveLost(info))
  const counts = (): LiveHandles => ({
    allocations: live.allocations.size,
    hostAllocations: live.hostAllocations.size,
    kernels: live.kernels.size,
    executables: live.executables.size,
  })
  const { native, openCommandQueue, abandon } = runtime
  return {
    devices: runtime.devices.slice(0, devices),
    lost,
    canAccessPeer: (reader, owner) =>
      reader === owner || (peerAccess && runtime.canAccessPeer(reader, owner)),
    async allocate(...args) {
      const allocation = await runtime.allocate(...args)
      live.allocations.add(allocation)
      return allocation
    },
    free(allocation) {
      live.allocations.delete(allocation)
      runtime.free(allocation)
    },
    allocateHost(byteLength) {
      const allocation = runtime.allocateHost(byteLength)
      live.hostAllocations.add(allocation)
      return allocation
    },
    freeHost(allocation) {
      live.hostAllocations.delete(allocation)
      runtime.freeHost(allocation)
    },
    async compile(source) {
      const kernel = await runtime.compile(source)
      live.kernels.add(kernel)
      return kernel
    },
    // The runtime keeps it: backends have compiled code as long as a kernel needs it.
    releaseKernel: (kernel) => void live.kernels.delete(kernel),
    async instantiate(plan) {
      const executable = await runtime.instantiate(plan)
      live.executables.add(executable)
      return executable
    },
    release(executable) {
      live.executables.delete(executable)
      runtime.release(executable)
    },
    run: (...given) => runtime.run(...given),
    write: (...given) => runtime.write(...given),
    read: (...given) => runtime.read(...given),
    live: counts,
    async dispose() {
      resolveLost({ reason: 'destroyed', message: 'The group has been destroyed.' })
      const left = Object.entries(counts()).filter(([, count]) => count > 0)
      return left.map(([kind, count]) => `The group ends with live ${kind}: ${count}.`)
    },
    native,
    ...(openCommandQueue && { openCommandQueue: openCommandQueue.bind(runtime) }),
    abandon: abandon?.bind(runtime),
  }
}
