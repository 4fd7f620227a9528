import type { MpiFamily } from './launcher.ts'

const debianFolder = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`
const openMpi = [
  'libmpi.so.40',
  `${debianFolder}/openmpi/lib/libmpi.so.40`,
  '/usr/lib64/openmpi/lib/libmpi.so.40',
  '/usr/local/lib/libmpi.so.40',
]
const mpich = ['libmpich.so.12', '/usr/lib64/mpich/lib/libmpi.so.12', 'libmpi.so.12']
const standardAbi = ['libmpi_abi.so.0', 'libmpi_abi.so']

/** Libraries to try, in order: those of the launcher's MPI, if the launcher is known. */
export function libraryCandidates(family: MpiFamily | undefined): readonly string[] {
  if (family === 'Open MPI') return [...openMpi, ...standardAbi, 'libmpi.so']
  if (family === 'MPICH') return [...mpich, ...standardAbi, 'libmpi.so']
  return [...openMpi, ...mpich, ...standardAbi, 'libmpi.so']
}

/** One sentence that names the packages to install. */
export function installationRemedy(family: MpiFamily | undefined): string {
  if (family === 'Open MPI')
    return "Install Open MPI's library (Debian and Ubuntu: libopenmpi3, with the launcher in openmpi-bin), or name it in `libraries`."
  if (family === 'MPICH')
    return "Install MPICH's library (Debian and Ubuntu: libmpich12, with the launcher in mpich), or name it in `libraries`."
  return 'Install an MPI (Debian and Ubuntu: openmpi-bin or mpich), or name its library in `libraries`.'
}
