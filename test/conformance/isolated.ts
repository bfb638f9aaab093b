import type { CaseResult } from './main.ts';

/** Compares one case. A case that cannot be compared differs; it never hides those after it. */
export async function isolated(
  name: string,
  compare: () => CaseResult | Promise<CaseResult>,
): Promise<CaseResult> {
  try {
    return await compare();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { name, outcome: 'differ', detail: `cannot be compared: ${why}` };
  }
}
