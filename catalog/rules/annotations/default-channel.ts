import { checkDefaultChannel } from '../bundle-checks/annotations.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'annotations/default-channel',
  severity: 'warning',
  summary: 'The default channel is one of the channels',
  fix: 'operators.operatorframework.io.bundle.channel.default.v1: one of the annotated channels',
  inspect: checkDefaultChannel,
};
