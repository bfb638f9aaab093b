/** The statement about upgrade safety that a publish signs and attaches. */
import { describe, expect, test } from 'vitest';
import { sampleRepository } from '../../../fakes/sample.ts';
import { UPGRADE_SAFETY, upgradeSafetyScene } from '../../../fakes/upgrade-safety.ts';

describe('upgrade safety', () => {
  test('without a previous image, the catalog is checked as it is', async () => {
    const { base, publish, statements } = await upgradeSafetyScene();
    const digest = await publish('first', base);
    const [statement, ...others] = await statements('first', digest);
    expect(others).toEqual([]);
    expect(statement).toMatchObject({
      subject: [{ digest: { sha256: digest.slice('sha256:'.length) } }],
      predicateType: UPGRADE_SAFETY,
      predicate: { result: 'PASSED', catalog: 'v4.20', commit: base, waived: [], unchecked: [] },
    });
    expect(statement?.predicate).not.toHaveProperty('previous');
    expect(statement?.predicate.simulated).toContainEqual({
      package: 'harbour-operator',
      resolver: 'v0',
      versions: ['1.0.0', '1.1.0', '1.2.0', '1.3.0-rc.1'],
      installations: 7,
      arrive: 7,
    });
  });

  test('with one, the change since its commit is: who keeps an upgrade path passes, who loses it fails', async () => {
    const { base, addition, stranding, publish, statements } = await upgradeSafetyScene();
    await publish('kept', base);
    const [kept] = await statements('kept', await publish('kept', addition));
    expect(kept?.predicate).toMatchObject({ result: 'PASSED', previous: base, commit: addition });
    expect(kept?.predicate.simulated.map((one) => one.package)).toEqual([
      'harbour-operator',
      'harbour-operator',
    ]);
    await publish('lost', base);
    const [lost] = await statements('lost', await publish('lost', stranding));
    expect(lost?.predicate).toMatchObject({ result: 'FAILED', previous: base, commit: stranding });
    expect(lost?.predicate.findings[0]).toMatchObject({
      rule: 'graph/strands-installed-v0',
      severity: 'error',
      package: 'lighthouse-operator',
      installed: expect.arrayContaining(['2.0.0']),
    });
    expect(lost?.predicate.simulated).toContainEqual(
      expect.objectContaining({
        package: 'lighthouse-operator',
        resolver: 'v0',
        installations: 4,
        arrive: 3,
      }),
    );
  });

  test('is signed once for the same previous image, and again for another one', async () => {
    const { base, addition, reverted, publish, statements } = await upgradeSafetyScene();
    const digest = await publish('back', base);
    await publish('back', base);
    expect(await statements('back', digest)).toHaveLength(1);
    await publish('back', addition);
    expect(await publish('back', reverted)).toBe(digest);
    const all = await statements('back', digest);
    expect(all.map(({ predicate }) => predicate.result).sort()).toEqual(['FAILED', 'PASSED']);
    expect(all.find(({ predicate }) => predicate.result === 'FAILED')?.predicate.previous).toBe(addition);
  });

  test('187: one image for several tags is compared with the image of each, and the worst result is said', async () => {
    const { base, addition, reverted, host, publish, statements } = await upgradeSafetyScene();
    // The clusters of "slow" have a version that those of "fast" never got.
    await publish('fast', base);
    await publish('slow', addition);
    const words = ['--also', `${host}/sea/catalog:slow`];
    const all = await statements('fast', await publish('fast', reverted, { words }));
    const ofCommit = all.filter(({ predicate }) => predicate.commit === reverted);
    expect(ofCommit.map(({ predicate: { result, previous } }) => ({ result, previous }))).toEqual([
      { result: 'FAILED', previous: addition },
    ]);
  });

  test('a waiver of the policy counts, and is named', async () => {
    const { base, waived, publish, statements } = await upgradeSafetyScene();
    await publish('waived', base);
    const [statement] = await statements('waived', await publish('waived', waived));
    expect(statement?.predicate).toMatchObject({
      result: 'PASSED',
      waived: expect.arrayContaining([
        expect.objectContaining({ rule: 'graph/strands-installed-v0', waivedUntil: '2999-01-01' }),
      ]),
    });
  });

  test('what cannot be checked does not pass, and does not stop the publish', async () => {
    const { base, publish, statements } = await upgradeSafetyScene();
    await publish('rewritten', base);
    const rewritten = sampleRepository({ 'README.md': 'The history begins anew.' });
    const words = ['--epoch', '1'];
    const digest = await publish('rewritten', rewritten.addition, { from: rewritten, words });
    rewritten.remove();
    const [statement] = await statements('rewritten', digest);
    expect(statement?.predicate).toMatchObject({
      result: 'UNKNOWN',
      previous: base,
      unchecked: [{ what: 'the catalog', why: expect.any(String) }],
    });
  });

  test('nobody gets it unsigned', async () => {
    const { base, run } = await upgradeSafetyScene();
    const ran = await run('unsigned', base, ['--upgrade-safety']);
    expect(ran).toMatchObject({
      exit: 2,
      err: expect.stringContaining('--upgrade-safety needs a signature'),
    });
  });
});
