/** The record of what is published says from which branch. */
import { expect, test } from 'vitest';
import { followingRecord, type PublishedFrom, publishedIn } from '../../../pipeline/publish/documents.ts';
import { directoryRecords } from '../../../pipeline/publish/records/directory.ts';
import { commitOf, digestOf } from '../../fakes/fence-contract.ts';
import { folder } from '../../fakes/folder.ts';

const CLAIM = { epoch: 0, sequence: 1, version: '1', commit: commitOf(1), digest: digestOf(1) };
const TURN = { timeLeft: () => 1000, doubt: () => undefined };

test('a message of another branch that comes after leaves it; a record that does not say it is written anew', async () => {
  const records = directoryRecords(folder());
  const at = {
    name: 'v4.20/0123456789abcdef',
    catalog: 'v4.20',
    place: 'registry.example.com/sea/catalog:v4.20',
  };
  const from = (branch: string): PublishedFrom => ({ repository: 'sea/catalogs', branch });
  const old = followingRecord(records, at);
  await old.move(CLAIM, TURN);
  const main = followingRecord(records, { ...at, from: from('main') });
  expect(await main.follows(CLAIM)).toBe(false);
  await main.move(CLAIM, TURN);
  expect(await main.follows(CLAIM)).toBe(true);
  const other = followingRecord(records, { ...at, from: from('other') });
  expect(await other.follows(CLAIM)).toBe(true);
  expect(await other.follows({ ...CLAIM, digest: digestOf(2) })).toBe(false);
  expect((await publishedIn(records))[0]?.from).toEqual(from('main'));
});
