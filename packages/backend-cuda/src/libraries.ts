/**
 * Names and paths of the NVIDIA libraries: first names for the loader, then the folders in which installers
 * put libraries that the loader does not find.
 */
export interface Libraries {
  readonly cuda: readonly string[]
  readonly nvrtc: readonly string[]
  readonly nvml: readonly string[]
  readonly nccl: readonly string[]
}

const driverFolders = ['/usr/local/nvidia/lib64', '/usr/lib/wsl/lib']
const toolkitFolders = [
  '/usr/local/cuda/lib64',
  `/usr/local/cuda/targets/${process.arch === 'arm64' ? 'sbsa' : 'x86_64'}-linux/lib`,
  '/opt/cuda/lib64',
]
const ncclName = 'libnccl.so.2'
const nvrtcNames = ['libnvrtc.so.13', 'libnvrtc.so.12', 'libnvrtc.so.11.2', 'libnvrtc.so']

export const defaultLibraries: Libraries = {
  cuda: ['libcuda.so.1', ...driverFolders.map((folder) => `${folder}/libcuda.so.1`)],
  nvml: ['libnvidia-ml.so.1', ...driverFolders.map((folder) => `${folder}/libnvidia-ml.so.1`)],
  nccl: [ncclName, ...toolkitFolders.map((folder) => `${folder}/${ncclName}`)],
  nvrtc: [
    ...nvrtcNames,
    ...toolkitFolders.flatMap((folder) => nvrtcNames.map((name) => `${folder}/${name}`)),
  ],
}

/**
 * NVRTC names ordered for a driver: a cubin of a newer major release does not load on an older driver, so
 * releases above the driver's come last.
 */
export function nvrtcFor(libraries: readonly string[], driverVersion: number): string[] {
  const tooNew = (name: string) => {
    const major = /libnvrtc\.so\.(\d+)/.exec(name)?.[1]
    return major !== undefined && Number(major) > Math.floor(driverVersion / 1000)
  }
  return [...libraries.filter((name) => !tooNew(name)), ...libraries.filter(tooNew)]
}
