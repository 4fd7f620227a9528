import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildAddon } from '../../../tools/build-addon.mjs'

buildAddon(dirname(dirname(fileURLToPath(import.meta.url))), 'CUDA')
