/** The second thread of `portolan validate`: a program of its own. */
import { parentPort, workerData } from 'node:worker_threads';
import { CATALOG_RULES } from '../../../catalog/rules/catalog.ts';
import { checkShare } from '../../check/two-threads.ts';

// What it throws ends the thread: the first one then checks everything.
checkShare(workerData, CATALOG_RULES).then((share) => parentPort?.postMessage(share));
