/** What a function is given, by its settings: nothing is asked of AWS before it is used. */
import { expect, test } from 'vitest';
import { settingsFrom } from '../../../functions/aws/env.ts';
import { portsOf } from '../../../functions/aws/ports.ts';
import type { Releaser } from '../../../pipeline/publish/delivery/ports.ts';

const FROM = { repository: 'sea/catalogs', branch: 'main' };
const JOB = { ownerId: 1, workflow: '.github/workflows/publish.yml' };

function releaserWith(app: string, job?: typeof JOB): Releaser | undefined {
  const source = { ...FROM, id: 1, url: 'https://github.com/sea/catalogs.git', job };
  const settings = settingsFrom({
    PORTOLAN_SOURCES: JSON.stringify([source]),
    PORTOLAN_QUEUE: 'https://sqs.us-east-1.amazonaws.com/1/queue.fifo',
    PORTOLAN_REPORTS: 'https://sqs.us-east-1.amazonaws.com/1/reports.fifo',
    PORTOLAN_TABLE: 'table',
    PORTOLAN_BUCKET: 'bucket',
    PORTOLAN_APP_SECRET: app,
    AWS_REGION: 'us-east-1',
  });
  const none = (): void => undefined;
  return portsOf(settings, { log: none, count: none, time: none }).releaserOf?.(FROM);
}

test('bundles are released as the App, of branches that have no job which does it', () => {
  expect(releaserWith('app')).toBeDefined();
  expect(releaserWith('app', JOB)).toBeUndefined();
  expect(releaserWith('')).toBeUndefined();
});
