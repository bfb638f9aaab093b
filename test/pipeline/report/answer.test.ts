import { expect, test } from 'vitest';
import type { CheckReport } from '../../../pipeline/check/report.ts';
import { answerText } from '../../../pipeline/report/answer.ts';
import { GREEN } from '../../fakes/report.ts';

const NEEDS: CheckReport = {
  ...GREEN,
  authority: {
    ...GREEN.authority,
    decision: 'needs',
    missing: [
      {
        who: 'owner',
        count: 1,
        from: ['carol', 'dan'],
        subjects: ['package etcd'],
        why: 'adds @all versions',
      },
      { who: 'admin', count: 2, from: [], subjects: [], why: 'changes the gate' },
    ],
  },
  verdict: 'fail',
  findings: [
    {
      rule: 'channel/head',
      severity: 'error',
      message: 'two <b>heads</b> @everybody',
      location: { file: 'x.yaml', line: 3, column: 1 },
    },
  ],
  holds: ['the pull request is a draft'],
  waitsFor: ['the required check "install" is not done yet'],
};

test('/who says who can give what is missing, and mentions nobody', () => {
  const text = answerText(NEEDS, { kind: 'who' });
  expect(text).toContain('- 1 approval by owners for package etcd; can be given by `carol`, `dan`: it adds');
  expect(text).toContain(
    '- 2 approvals by admins; can be given by nobody, by the policy: it changes the gate',
  );
  expect(text).toContain('- the author must correct 1 error\n- held: the pull request is a draft\n- waits: ');
  expect(text).not.toMatch(/@\w/);
});

test('/who says when nothing is missing, and when nobody checked', () => {
  expect(answerText(GREEN, { kind: 'who' })).toContain('No approval is missing.');
  const unknown: CheckReport = { ...GREEN, authority: { ...GREEN.authority, decision: 'not judged' } };
  expect(answerText(unknown, { kind: 'who' })).toContain('Permissions were not checked.');
  const denied: CheckReport = {
    ...GREEN,
    authority: { ...GREEN.authority, decision: 'deny', reasons: ['gate: changes of the gate come alone'] },
  };
  expect(answerText(denied, { kind: 'who' })).toContain('- refused: gate: changes of the gate come alone');
});

test('/explain says what a rule means, and where the pull request breaks it', () => {
  const text = answerText(NEEDS, { kind: 'explain', rule: 'channel/head' });
  expect(text).toMatch(
    /^\*\*\[`channel\/head`\]\(https:\/\/github\.com\/.*#channel-head\)\*\* \(error by default\): /,
  );
  expect(text).toContain('has 1 finding of the rule:\n- error: two &lt;b&gt;heads');
  expect(text).toContain('(`x.yaml:3`)');
  expect(text).not.toMatch(/@\w|<b>/);
  expect(answerText(GREEN, { kind: 'explain', rule: 'channel/head' })).toContain(
    'has no finding of the rule',
  );
});

test('/explain names the rule that was probably meant', () => {
  expect(answerText(GREEN, { kind: 'explain', rule: 'channel/heda' })).toBe(
    'There is no rule `channel/heda`. Did you mean `channel/head`?\n',
  );
});
