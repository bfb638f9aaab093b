// Loaded into the Action before it starts: the pauses that GitHub asks for between writes, and those between tries, take
// a twentieth of their time. How long they are is tested with a clock of its own.
const PAUSES = { least: 500, most: 5000, divisor: 20 };

const { setTimeout: real } = globalThis;
function setTimeout(run, ms, ...rest) {
  const isPause = ms >= PAUSES.least && ms <= PAUSES.most;
  return real(run, isPause ? ms / PAUSES.divisor : ms, ...rest);
}
globalThis.setTimeout = Object.defineProperties(setTimeout, Object.getOwnPropertyDescriptors(real));
