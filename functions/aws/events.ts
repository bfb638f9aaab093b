/** Events on a bus of EventBridge: whoever wants to know of a publish or a retirement subscribes there. */
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { PipelineError } from '../../pipeline/error.ts';
import type { Announcement, RetirementNotice } from '../../pipeline/publish/delivery/ports.ts';
import { ASKING, cloudError } from '../s3/failure.ts';

interface Announcer {
  readonly announce: (published: Announcement) => Promise<void>;
  readonly announceRetired: (retired: RetirementNotice) => Promise<void>;
}

/** Announces publishes on an event bus. @throws PipelineError, retryable, from its functions */
export function announcerOn(bus: string): Announcer {
  const client = new EventBridgeClient(ASKING);
  const put =
    (type: string) =>
    (detail: object): Promise<void> =>
      cloudError(`the bus ${bus}`, async () => {
        const entry = { EventBusName: bus, Source: 'portolan', DetailType: type };
        const { FailedEntryCount } = await client.send(
          new PutEventsCommand({ Entries: [{ ...entry, Detail: JSON.stringify(detail) }] }),
        );
        if (FailedEntryCount === 0 || FailedEntryCount === undefined) return;
        throw new PipelineError('bad-answer', `the bus ${bus} did not accept the event`, { retryable: true });
      });
  return { announce: put('CatalogPublished'), announceRetired: put('CatalogRetired') };
}
