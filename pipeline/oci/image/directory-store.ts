/** A build's memory in a directory: a cache of the Action's runner, or of a developer's machine. */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileError } from '../../directory.ts';
import { readRegular } from '../../file-pieces.ts';
import { contentKey, type Store } from './build-cache.ts';

/**
 * @param root made when something is put into it
 * @throws PipelineError `io` from its functions; what is not there is undefined
 */
export function directoryStore(root: string): Store {
  const fileOf = (key: string): string => join(root, `${contentKey('file', key)}.json`);
  return {
    async get(key) {
      try {
        return readRegular(fileOf(key));
      } catch (error) {
        const failure = fileError(error, fileOf(key));
        if (failure.code === 'not-found') return undefined;
        throw failure;
      }
    },
    async put(key, bytes) {
      const path = fileOf(key);
      const temporary = `${path}.${process.pid}`;
      try {
        mkdirSync(root, { recursive: true });
        // Whole or not at all: another build may read it now.
        writeFileSync(temporary, bytes);
        renameSync(temporary, path);
      } catch (error) {
        throw fileError(error, path);
      }
    },
  };
}
