import type { RunInputs } from './inputs.ts';
export async function findDrift(_inputs: RunInputs): Promise<void> {}
