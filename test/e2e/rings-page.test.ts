// The page of release rings in Debian's Chromium: everything can be read on a desktop and on a phone, in light and dark.
import { expect, test } from 'vitest';
import { type RingsOnPage, ringsPage } from '../../pipeline/report/page/rings-page.ts';
import { legibleContract } from '../fakes/legible.ts';

const LONG = 'operator'.repeat(10);
const image = (digit: string) => ({ commit: digit.repeat(40), digest: `sha256:${digit.repeat(64)}` });
const ring = (tag: string): string => `registry.example.com/sea/catalog:${tag}`;
const RINGS: RingsOnPage[] = [
  {
    catalog: 'v4.20',
    clock: '2027-01-05T12:00:00.000Z',
    rings: [
      { ring: ring('v4.20-canary'), tag: 'v4.20-canary', image: image('c') },
      { ring: ring('v4.20-early'), tag: 'v4.20-early', image: image('b') },
      { ring: ring('v4.20'), tag: 'v4.20', image: image('a') },
    ],
    waits: [
      {
        ...{ ring: ring('v4.20-early'), commit: image('c').commit },
        ...{ at: '2027-01-05T10:00:00.000Z', opens: '2027-01-06T10:00:00.000Z' },
        why: ['soaks for another 22 h of 24 h', 'held for etcd.v1.2.0 by anna since 2027-01-05: loses data'],
        packages: ['etcd', LONG],
      },
      {
        ...{ ring: ring('v4.20'), commit: image('b').commit },
        ...{ at: '2027-01-02T10:00:00.000Z', opens: '2027-01-05T10:00:00.000Z' },
        ...{ why: ['the check smoke has not ended'], packages: ['prometheus'] },
      },
    ],
    holds: [
      { at: '2027-01-05T11:00:00.000Z', by: 'anna', why: `loses data: ${LONG}`, bundle: 'etcd.v1.2.0' },
    ],
    events: [
      {
        ...{ what: 'opened early', at: '2027-01-01T00:00:00.000Z', ring: ring('v4.20') },
        ...{ by: 'anna, bob', why: 'CVE-2027-1', commit: image('a').commit },
      },
      { what: 'held', at: '2027-01-05T11:00:00.000Z', by: 'anna', why: 'loses data', bundle: 'etcd.v1.2.0' },
    ],
  },
  {
    ...{ catalog: 'v4.19', clock: '2027-01-05T12:00:00.000Z', waits: [], holds: [], events: [] },
    rings: [{ ring: ring('v4.19-canary'), tag: 'v4.19-canary' }],
  },
];

legibleContract(
  'rings',
  () => ringsPage(RINGS),
  async (page) => {
    expect(await page.locator('h2').allTextContents()).toEqual(['v4.20', 'v4.19', 'By package']);
  },
);

test('what people wrote is text, never HTML', () => {
  const [first] = RINGS;
  const hostile = { at: '2027-01-05T11:00:00.000Z', by: '<b>', why: '<script>', bundle: '"><i>' };
  const text = ringsPage(first ? [{ ...first, catalog: '<u>', holds: [hostile] }] : []);
  for (const tag of ['<script', '<i>', '<u>', '<b>\n']) expect(text).not.toContain(tag);
  expect(text).toContain('&lt;script&gt;');
});
