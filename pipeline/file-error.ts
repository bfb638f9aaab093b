import { PipelineError } from './error.ts';

/** What the operating system says, as a PipelineError with the path in it. */
export function fileError(error: unknown, path: string): PipelineError {
  if (error instanceof PipelineError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const message = FILE_ERRORS.get(code) ?? (error instanceof Error ? error.message : String(error));
  return new PipelineError(
    code === 'ENOENT' || code === 'ENOTDIR' ? 'not-found' : 'io',
    `${path}: ${message}`,
    {
      cause: error,
    },
  );
}

const FILE_ERRORS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'no such file or directory'],
  ['ENOTDIR', 'not a directory'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'operation not permitted'],
  ['EROFS', 'the file system is read-only'],
  ['ENOSPC', 'no space left on the device'],
  ['EDQUOT', 'the quota of the disk is used up'],
  ['EFBIG', 'file too large'],
  ['EISDIR', 'is a directory'],
  ['ENOTEMPTY', 'the directory is not empty'],
]);
