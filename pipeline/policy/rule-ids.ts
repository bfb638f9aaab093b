import { RULES } from '../../catalog/rules/index.ts';

/** Ids of the rules that a policy may name. */
export const RULE_IDS: readonly string[] = RULES.map(({ id }) => id);
