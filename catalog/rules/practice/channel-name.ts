import { checkChannelNames } from '../bundle-checks/practice.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'practice/channel-name',
  severity: 'warning',
  summary: 'Channels are named candidate, fast or stable',
  fix: 'call the channel stable, fast or candidate, such as stable-v1',
  opm: ['channel(s) [C] are not following the recommended naming convention: …'],
  inspect: checkChannelNames,
};
