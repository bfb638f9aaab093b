/** Where statuses link to. */
import { expect, test } from 'vitest';
import { settingsFrom } from '../../../functions/aws/env.ts';
import { reportPortsOf } from '../../../functions/aws/ports.ts';

function linkIn(environment: Readonly<Record<string, string>>): string | undefined {
  const url = 'https://github.com/sea/catalogs.git';
  const settings = settingsFrom({
    PORTOLAN_QUEUE: 'queue',
    PORTOLAN_REPORTS: 'queue',
    PORTOLAN_TABLE: 'table',
    PORTOLAN_BUCKET: 'bucket',
    PORTOLAN_SOURCES: JSON.stringify([{ repository: 'sea/catalogs', id: 1, branch: 'main', url }]),
    ...environment,
  });
  const telemetry = { log: () => {}, count: () => {}, time: () => {}, flush: () => {} };
  return reportPortsOf(settings, telemetry).linkTo?.('documents/v4.20/x/');
}

test.each([
  ['us-east-1', 'us-east-1.console.aws.amazon.com'],
  ['cn-north-1', 'cn-north-1.console.amazonaws.cn'],
  ['us-gov-west-1', 'us-gov-west-1.console.amazonaws-us-gov.com'],
  ['eusc-de-east-1', 'eusc-de-east-1.console.amazonaws-eusc.eu'],
])('the page of a publish in %s is shown by the console of its partition', (region, host) => {
  const link = linkIn({ AWS_REGION: region });
  expect(link).toBe(`https://${host}/s3/object/bucket?region=${region}&prefix=documents/v4.20/x/page.html`);
});

test('a site of your own takes the place of the console', () => {
  const pages = 'https://pages.example.com/';
  expect(linkIn({ AWS_REGION: 'us-east-1', PORTOLAN_PAGES: pages })).toBe(
    'https://pages.example.com/documents/v4.20/x/page.html',
  );
});
