/** A delivery whose handlers run at once, each waiting for its turn at every call of a port; some calls go wrong. */
import { type AskAnswer, answerJob } from '../../functions/publish-request.ts';
import { PipelineError } from '../../pipeline/error.ts';
import type { Message } from '../../pipeline/ports.ts';
import { handleMessage } from '../../pipeline/publish/delivery/handle-delivery.ts';
import { messageOf, type Work } from '../../pipeline/publish/delivery/message.ts';
import type { DeliveryPorts, ReportPorts } from '../../pipeline/publish/delivery/ports.ts';
import { reconcileBranch } from '../../pipeline/publish/delivery/reconcile.ts';
import { handleReport } from '../../pipeline/publish/delivery/report.ts';
import { Death, deliveryWorld, type Fate, type World } from './delivery.ts';
import { pick } from './generator.ts';
import { jobThatAsks } from './job.ts';
import { type Turnstile, turnstile } from './turnstile.ts';

export interface Race extends Turnstile {
  readonly world: World;
  /** What happened, in order. */
  readonly events: string[];
  /** What jobs were told in the end. */
  readonly answers: readonly { readonly commit: string; readonly answer: AskAnswer }[];
  /** What was thrown that no port throws. */
  readonly bugs: readonly unknown[];
  /** Calls that went wrong. */
  faults(): number;
  /** From now on nothing goes wrong. */
  heal(): void;
  push(commit: string): void;
  ask(commit: string): void;
  /** Reconciles, and publishes what that asks for, as the state machine does. */
  reconcile(): void;
  /** Some minutes pass: a message that was sent before is another one now. */
  forget(): void;
}

export interface RaceOptions {
  readonly directory: string;
  readonly branch: string;
  readonly random: () => number;
  /** Calls that may go wrong. */
  readonly most: number;
}

const REPOSITORY = 'sea/catalogs';
/** How often a call goes wrong while some may. */
const CHANCE = 0.02;
/** How often a job looks for its end. */
const LOOKS = 40;

export async function openRace({ directory, branch, random, most }: RaceOptions): Promise<Race> {
  const turns = turnstile(random);
  const events: string[] = [];
  const answers: { readonly commit: string; readonly answer: AskAnswer }[] = [];
  const bugs: unknown[] = [];
  const fated = fates(turns, events, { random, most });
  let processes = 0;
  let runs = 0;
  /** Works in processes of their own, until one comes to its end. */
  const tried = async (
    what: string,
    work: (ports: DeliveryPorts & ReportPorts) => Promise<unknown>,
  ): Promise<void> => {
    // Once more than calls may go wrong: what fails still is not to be helped.
    for (let tries = 0; tries <= most; tries++) {
      const who = `#${++processes}`;
      events.push(`${who}: ${what}`);
      const ports = world.living(who);
      const open: DeliveryPorts['open'] = async (from) => {
        await turns.turn();
        return ports.open(from);
      };
      try {
        await work({ ...ports, open });
        events.push(`${who}: done`);
        return;
      } catch (error) {
        events.push(`${who}: ${error instanceof Death ? 'dies' : error}`);
        if (!(error instanceof PipelineError || error instanceof Death)) bugs.push(error);
      }
    }
  };
  const queue = racingQueue(turns, (body) =>
    tried(told(JSON.parse(body)), (ports) => handleMessage(body, ports)),
  );
  const reports = racingQueue(turns, (body) => tried('report', (ports) => handleReport(body, ports)));
  const world = await deliveryWorld({ directory, queue, reports, fate: fated.fate });
  return {
    ...turns,
    world,
    events,
    answers,
    bugs,
    faults: fated.faults,
    heal: fated.heal,
    push: (commit) => {
      events.push(`push ${commit}`);
      void queue.send(messageOf({ v: 1, kind: 'push', repository: REPOSITORY, branch, commit }));
    },
    ask: (commit) =>
      void turns.start(() =>
        tried(`ask ${commit}`, async (ports) => {
          // Tried again, it is another run: the first one's message may have come to its end.
          const { asking, known } = jobThatAsks({ branch, commit, run: ++runs });
          let looks = 0;
          const clock = { now: () => looks, sleep: async () => void looks++ };
          const answer = await answerJob(asking, { ...ports, ...known, clock, patience: LOOKS });
          if (answer.status === 503 && looks < LOOKS)
            throw new PipelineError('unreachable', answer.body.error);
          answers.push({ commit, answer });
        }),
      ),
    reconcile: () =>
      void turns.start(() =>
        tried('reconcile', async (ports) => {
          const { messages } = await reconcileBranch({ repository: REPOSITORY, branch }, ports);
          for (const message of messages) {
            const what = `reconciled ${told(message)}`;
            void turns.start(() => tried(what, (own) => handleMessage(JSON.stringify(message), own)));
          }
        }),
      ),
    forget: () => {
      queue.forget();
      reports.forget();
    },
  };
}

/** Lets each call wait for its turn, and some go wrong. */
function fates(turns: Turnstile, events: string[], { random, most }: Pick<RaceOptions, 'random' | 'most'>) {
  let faults = 0;
  let isHealed = false;
  const fate: Fate = async (_, name, { caller, parameters: [of] }) => {
    // What is named by its digest is the same for everybody: nobody sees who was first.
    if (name.startsWith('registry.') && (of as { readonly kind?: string }).kind !== 'tag') return undefined;
    await turns.turn();
    if (isHealed || faults >= most || random() >= CHANCE) return undefined;
    faults++;
    const fated = pick(random, ['before', 'after', 'fails'] as const);
    events.push(`${caller}: ${fated} ${name}`);
    return fated;
  };
  const heal = (): void => {
    isHealed = true;
  };
  return { fate, heal, faults: () => faults };
}

/** A message in short. */
function told(work: Work): string {
  return JSON.stringify(work, ['kind', 'commit', 'behind', 'again']);
}

/** The ways of SQS FIFO: groups in order and at once, and one message of an id within some minutes. */
function racingQueue(turns: Turnstile, handle: (body: string) => Promise<void>) {
  const groups = new Map<string, Message[]>();
  const sent = new Set<string>();
  const deliver = async (group: string, messages: readonly Message[]): Promise<void> => {
    // More may be sent meanwhile.
    for (const { body } of messages) await handle(body);
    groups.delete(group);
  };
  return {
    forget: () => sent.clear(),
    send: async (message: Message) => {
      const { group, id } = message;
      if (sent.has(id)) return;
      sent.add(id);
      const messages = groups.get(group);
      if (messages) {
        messages.push(message);
        return;
      }
      const begun = [message];
      groups.set(group, begun);
      void turns.start(() => deliver(group, begun));
    },
  };
}
