import { join } from 'node:path';
import type { ThreadOptions } from '../catalogs/two-threads.ts';

/** Where the program's file is, with that of its second thread beside it; only where commands have files of their own. */
declare const COMMAND_FOLDER: string | undefined;

/** The program of a second thread for large catalogs; undefined where commands have no files of their own, as in the sources. */
export const SECOND_THREAD: ThreadOptions | undefined =
  typeof COMMAND_FOLDER === 'undefined' ? undefined : { program: join(COMMAND_FOLDER, 'second-thread.cjs') };
