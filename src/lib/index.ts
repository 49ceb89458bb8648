export {
  bytesAt,
  FileTrouble,
  kindOf,
  openFile,
  otherThanFile,
  readBytes,
  readFile,
  readIfFile,
  withFile,
  wordsOf,
  writeAll,
} from './file.ts'
export { sha256 } from './hash.ts'
export { readCgroupFile, readKernel, readKernelFile, writeCgroupFile, writeKernelFile } from './kernel-file.ts'
export { orNull } from './or-null.ts'
export { findProgram } from './program.ts'
export { namesIn } from './read.ts'
export { createFile, replaceFile } from './write.ts'
