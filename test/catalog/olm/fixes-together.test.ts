import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Finding } from '../../../catalog/finding.ts';
import { changeOf, type WorldOptions } from '../../../catalog/olm/foresight/world.ts';
import { RULES } from '../../../catalog/rules/index.ts';
import { runComparison, runForesight } from '../../../catalog/rules/rule.ts';
import { runs } from '../../fakes/runs.ts';
import { askedBy, isFix, withFix } from '../../fakes/written-fix.ts';
import { anyPackage, catalogFrom, PACKAGE, soundPackage, type WrittenPackage } from './universe.ts';

async function options(written: WrittenPackage): Promise<WorldOptions> {
  return { name: 'cat', catalog: await catalogFrom({ [PACKAGE]: written }) };
}

/** What is said of a change, and of the state after it. */
async function findingsOf(before: WrittenPackage, after: WrittenPackage): Promise<Finding[]> {
  const change = await changeOf(await options(before), await options(after));
  return [...runComparison(change, RULES), ...runForesight(change.after, RULES)];
}

/** The package with all fixes of a report, each in the channel that its finding names. */
function withFixes(
  written: WrittenPackage,
  before: WrittenPackage,
  fixes: readonly Finding[],
): WrittenPackage {
  const channels = Object.entries(written.channels).map(([name, entries]) => {
    const texts = fixes.filter(({ channel }) => channel === name).map(({ hint = '' }) => hint);
    return [name, texts.reduce(withFix, [...entries])] as const;
  });
  const entries = channels.flatMap(([, of]) => of.map(({ name }) => name));
  const restored = before.versions.filter((one) => entries.includes(`${PACKAGE}.v${one}`));
  return {
    ...written,
    versions: [...new Set([...written.versions, ...restored])],
    channels: Object.fromEntries(channels),
  };
}

function isOf(fixed: Finding): (finding: Finding) => boolean {
  return ({ rule, channel, severity, installed = [] }) =>
    rule === fixed.rule &&
    channel === fixed.channel &&
    severity === fixed.severity &&
    installed.some((one) => fixed.installed?.includes(one));
}

test.each([
  ['sound packages that become any', soundPackage],
  ['any packages', anyPackage],
])('all fixes of a report can be applied together: %s', async (_, earlier) => {
  let together = 0;
  await fc.assert(
    fc.asyncProperty(earlier, anyPackage, async (before, after) => {
      const found = await findingsOf(before, after);
      const fixes = found.filter(({ hint }) => isFix(hint));
      if (fixes.length > 1) together++;
      const asked = new Map<string, string>();
      for (const { channel, hint = '' } of fixes) {
        for (const { entry, member, value } of askedBy(hint)) {
          const place = JSON.stringify([channel, entry, member]);
          expect([place, asked.get(place) ?? value]).toEqual([place, value]);
          asked.set(place, value);
        }
      }
      const left = await findingsOf(before, withFixes(after, before, fixes));
      for (const fixed of fixes) expect([fixed.hint, left.filter(isOf(fixed))]).toEqual([fixed.hint, []]);
    }),
    runs(400),
  );
  expect(together).toBeGreaterThan(0);
});
