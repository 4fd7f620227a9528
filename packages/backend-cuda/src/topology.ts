import type { Adapter, Topology, TopologyLink } from '@tandem-gpu/core'
import { answerOf, type CudaAdapter, findAdapters, normalPciBusId, nvLinksOf } from './adapters.ts'
import type { Libraries } from './libraries.ts'
import type { NativeAddon, NvmlLinks } from './native-addon.ts'

/** NVML's level of the nearest common ancestor above which traffic crosses between CPUs. */
const ancestorNode = 40

/**
 * How every pair of devices is linked. Peer access is reported by CUDA; NVLinks and the PCI tree by NVML, and
 * are `unknown` without it.
 */
export async function findTopology(given: NativeAddon | Error, libraries: Libraries): Promise<Topology> {
  const found = await findAdapters(given, libraries)
  if (found.absence !== undefined) return { adapters: [], links: [] }
  const { adapters, addon, probe } = found
  const nvLinks = await Promise.all(adapters.map((adapter) => nvLinksOf(addon, libraries, adapter)))
  const links = await Promise.all(
    adapters.map((reader, i) =>
      Promise.all(
        adapters.map(async (owner, j): Promise<TopologyLink> => {
          if (i === j) return { kind: 'self', peerAccess: true }
          const peerAccess = probe.peers[i * adapters.length + j] ?? false
          const linkCount = linksBetween(nvLinks[i], nvLinks[j], owner)
          if (linkCount > 0) return { kind: 'nvlink', linkCount, peerAccess }
          return { kind: await pciKind(addon, libraries, reader, owner), peerAccess }
        }),
      ),
    ),
  )
  return { adapters, links }
}

/**
 * The number of direct links to the owner, or of links that both have to the NVSwitch fabric that joins them.
 */
function linksBetween(reader: NvmlLinks | undefined, owner: NvmlLinks | undefined, to: Adapter): number {
  if (reader === undefined || owner === undefined) return 0
  const direct = reader.remotePciBusIds.filter((id) => normalPciBusId(id) === to.pciBusId).length
  return direct > 0 ? direct : Math.min(reader.toSwitch, owner.toSwitch)
}

async function pciKind(
  addon: NativeAddon,
  libraries: Libraries,
  reader: CudaAdapter,
  owner: CudaAdapter,
): Promise<TopologyLink['kind']> {
  if (reader.nvmlIndex === undefined || owner.nvmlIndex === undefined) return 'unknown'
  const level = await answerOf(addon.nvmlCommonAncestor(libraries.nvml, reader.uuid, owner.uuid))
  if (level === undefined || level < 0) return 'unknown'
  return level <= ancestorNode ? 'pcie' : 'system'
}
