import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chainBelow, headOf, headsOf } from '../../../catalog/fbc/channel.ts';
import { load } from '../../../catalog/fbc/load.ts';
import type { Channel } from '../../../catalog/fbc/model.ts';
import { sourceOf } from '../../../catalog/source.ts';

describe('headsOf', () => {
  test('finds what nothing replaces or skips', async () => {
    const channel = await channelOf([
      { name: 'a' },
      { name: 'b', replaces: 'a' },
      { name: 'c', skips: ['a'] },
    ]);
    expect(headsOf(channel).map(({ name }) => name)).toEqual(['b', 'c']);
    expect(headOf(channel)).toBeUndefined();
  });

  test('an entry that skips itself is no head', async () => {
    expect(headsOf(await channelOf([{ name: 'a', skips: ['a'] }]))).toEqual([]);
  });
});

describe('chainBelow', () => {
  test('stops at a replaced entry that somebody skips', async () => {
    const channel = await channelOf([
      { name: 'c', replaces: 'b', skips: ['b'] },
      { name: 'b', replaces: 'a' },
      { name: 'a' },
    ]);
    const chain = chainOf(channel);
    expect(chain.names).toEqual(['c']);
    expect(chain.stranded.map(({ name }) => name)).toEqual(['a']);
  });

  test('names the cycle below a head', async () => {
    const channel = await channelOf([
      { name: 'd', replaces: 'c' },
      { name: 'c', replaces: 'b' },
      { name: 'b', replaces: 'a' },
      { name: 'a', replaces: 'c' },
    ]);
    expect(chainOf(channel).cycle).toEqual(['c', 'b', 'a', 'c']);
  });

  test('a chain of replacements strands nobody, in whatever order it is written', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 30 }),
        fc.infiniteStream(fc.nat()),
        async (length, ranks) => {
          const entries = Array.from({ length }, (_, i) => ({
            name: `v${i}`,
            ...(i > 0 ? { replaces: `v${i - 1}` } : {}),
          }));
          const rank = new Map(entries.map((entry) => [entry, ranks.next().value]));
          const shuffled = [...entries].sort((a, b) => (rank.get(a) ?? 0) - (rank.get(b) ?? 0));
          const chain = chainOf(await channelOf(shuffled));
          expect(chain.stranded).toEqual([]);
          expect(chain.names).toHaveLength(length);
        },
      ),
    );
  });
});

function chainOf(channel: Channel): ReturnType<typeof chainBelow> {
  const head = headOf(channel);
  if (!head) throw new Error('the channel has no head');
  return chainBelow(channel, head);
}

async function channelOf(entries: readonly object[]): Promise<Channel> {
  const { blobs } = await load(
    sourceOf({ c: JSON.stringify({ schema: 'olm.channel', package: 'p', name: 'c', entries }) }),
  );
  const [channel] = blobs.channels;
  if (!channel) throw new Error('no channel');
  return channel;
}
