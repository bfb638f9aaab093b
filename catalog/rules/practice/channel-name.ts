import { checkChannelNames } from '../bundle-checks/practice.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'practice/channel-name',
  severity: 'warning',
  summary: 'Channels are named candidate, fast or stable',
  fix: 'name the channel stable, fast or candidate, for example stable-v1',
  opm: ['channel(s) [C] are not following the recommended naming convention: …'],
  inspect: checkChannelNames,
};
