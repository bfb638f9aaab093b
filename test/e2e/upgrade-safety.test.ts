/** The rule of docs/examples for policy engines, evaluated by OPA over statements that were published and signed. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folder } from '../fakes/folder.ts';
import { portolan } from '../fakes/terminal.ts';
import { isOnPath, run } from '../fakes/tools.ts';
import { type Statement, UPGRADE_SAFETY, upgradeSafetyScene } from '../fakes/upgrade-safety.ts';

const OTHER = `sha256:${'0'.repeat(64)}`;

/** What Conforma gives a rule: an image by digest, and the statements whose signatures it verified. */
async function denied(digest: string, statements: readonly unknown[]): Promise<string[]> {
  const input = join(folder(), 'input.json');
  const attestations = statements.map((statement) => ({ statement }));
  writeFileSync(
    input,
    JSON.stringify({ image: { ref: `registry.example.com/sea/catalog@${digest}` }, attestations }),
  );
  const rule = 'docs/examples/upgrade-safety.rego';
  const words = ['eval', '--strict', '--format', 'json', '--data', rule, '--input', input];
  const { result } = JSON.parse((await run('opa', ...words, 'data.upgrade_safety.deny')).toString());
  return result[0].expressions[0].value.map(({ code }: { code: string }) => code).sort();
}

function saying(statement: Statement | undefined, predicate: unknown): unknown {
  return { ...statement, predicate };
}

describe.skipIf(!isOnPath('opa'))('the rule upgrade_safety', () => {
  test('accepts a signed statement that passed, and no other image', async () => {
    const { base, addition, stranding, host, publicKey, publish, statements } = await upgradeSafetyScene();
    await publish('kept', base);
    const kept = await publish('kept', addition);
    await publish('lost', base);
    const lost = await publish('lost', stranding);
    const [passed] = await statements('kept', kept);
    const [failed] = await statements('lost', lost);
    const verify = ['verify', `${host}/sea/catalog:kept`, '--insecure', host, '--key', publicKey];
    expect(await portolan('.', ...verify, '--says', UPGRADE_SAFETY)).toMatchObject({ exit: 0 });

    expect(await denied(kept, [passed])).toEqual([]);
    expect(
      await denied(kept, [{ ...passed, predicateType: 'https://slsa.dev/provenance/v1' }, passed]),
    ).toEqual([]);
    expect(await denied(kept, [])).toEqual(['upgrade_safety.found']);
    expect(await denied(OTHER, [passed])).toEqual(['upgrade_safety.found']);
    expect(await denied(lost, [passed])).toEqual(['upgrade_safety.found']);
    expect(await denied('latest', [passed])).toEqual(['upgrade_safety.found']);
    expect(await denied(lost, [failed])).toEqual(['upgrade_safety.not_failed', 'upgrade_safety.passed']);
    // A statement that passed does not outweigh one that failed, whatever their order.
    const both = [saying(failed, passed?.predicate), failed];
    expect(await denied(lost, both)).toEqual(['upgrade_safety.not_failed']);
    expect(await denied(lost, both.reverse())).toEqual(['upgrade_safety.not_failed']);
  });

  test('refuses a statement that says something else', async () => {
    const { base, publish, statements } = await upgradeSafetyScene();
    const digest = await publish('first', base);
    const [passed] = await statements('first', digest);
    const unknown = saying(passed, { ...passed?.predicate, result: 'UNKNOWN' });
    expect(await denied(digest, [unknown])).toEqual(['upgrade_safety.passed']);
    expect(await denied(digest, [unknown, passed])).toEqual([]);
    for (const predicate of [{}, 'PASSED', null, [], { result: ['PASSED'] }, { result: 'failed' }])
      expect(await denied(digest, [saying(passed, predicate), passed]), JSON.stringify(predicate)).toEqual([
        'upgrade_safety.not_failed',
      ]);
  });
});
