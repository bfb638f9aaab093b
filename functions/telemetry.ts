/** What a host writes about its work: lines for people, numbers for alarms. */
export interface Telemetry {
  readonly log: (line: string) => void;
  /** Counts one event. */
  readonly count: (name: string, repository?: string) => void;
  /** In ms. */
  readonly time: (name: string, duration: number, repository?: string) => void;
}
