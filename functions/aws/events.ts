/** Events on a bus of EventBridge: whoever wants to know of a publish subscribes there. */
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { PipelineError } from '../../pipeline/error.ts';
import type { Announcement } from '../../pipeline/publish/delivery/ports.ts';
import { ASKING } from './client.ts';
import { cloudError } from './failure.ts';

/** @throws PipelineError, retryable, from its function */
export function announcerOn(bus: string): (published: Announcement) => Promise<void> {
  const client = new EventBridgeClient(ASKING);
  return (published) =>
    cloudError(`the bus ${bus}`, async () => {
      const { FailedEntryCount } = await client.send(
        new PutEventsCommand({
          Entries: [
            {
              EventBusName: bus,
              Source: 'portolan',
              DetailType: 'CatalogPublished',
              Detail: JSON.stringify(published),
            },
          ],
        }),
      );
      if (FailedEntryCount === 0 || FailedEntryCount === undefined) return;
      throw new PipelineError('bad-answer', `the bus ${bus} did not accept the event`, { retryable: true });
    });
}
