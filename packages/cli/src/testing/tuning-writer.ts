import { TuningFolder } from '../tuning-folder.ts'

// A separate program: stores fifty choices in the folder of the first argument, under keys that begin with
// the second.
const [path, name] = process.argv.slice(2)
const folder = new TuningFolder(path)
for (let i = 0; i < 50; i++) folder.set(`${name} ${i}`, `choice ${i}`)
