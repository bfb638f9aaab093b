/** The second thread of commands that read large catalogs: a program of its own. */
import { parentPort, workerData } from 'node:worker_threads';
import { CATALOG_RULES } from '../../catalog/rules/catalog.ts';
import { type RenderTask, renderShare } from '../catalogs/render/two-threads.ts';
import type { ThreadTask } from '../catalogs/two-threads.ts';
import { checkShare } from './catalog/two-threads.ts';

const task: ThreadTask | RenderTask = workerData;
const share = 'format' in task ? renderShare(task) : checkShare(task, CATALOG_RULES);
// What it throws ends the thread: the first one then does everything.
share.then((done) => parentPort?.postMessage(done));
