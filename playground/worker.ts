/** Examines in a thread of its own, so that the page stays quick and can stop what takes too long. */
import type { Question, Reply } from './answer.ts';
import { examine } from './examine.ts';

/** Of a dedicated worker; the types of pages do not have them. */
interface WorkerScope {
  onmessage: ((event: { readonly data: Question }) => void) | null;
  postMessage(reply: Reply): void;
}

const scope = globalThis as unknown as WorkerScope;
scope.onmessage = ({ data }) => {
  examine(data).then(
    (answer) => scope.postMessage({ answer }),
    (error: unknown) => scope.postMessage({ error: error instanceof Error ? error.message : String(error) }),
  );
};
