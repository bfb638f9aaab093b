import type { RunInputs } from './inputs.ts';
export async function publishPush(_inputs: RunInputs): Promise<void> {}
