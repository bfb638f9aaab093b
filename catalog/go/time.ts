/**
 * Days of the calendar, and times as Go's `time.Parse` takes them, after their form is known to be right.
 *
 * @see https://github.com/golang/go/blob/go1.26/src/time/format.go
 */

/**
 * Which part of a time Go finds out of range, in its words; undefined for a time that exists.
 *
 * @param parts year, month, day, hour, minute, second, and the hours and minutes of the zone; those that are missing count as 0
 */
export function outOfRange(parts: readonly number[]): string | undefined {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, zoneHour = 0, zoneMinute = 0] =
    parts;
  if (month < 1 || month > 12) return 'month';
  if (hour > 23) return 'hour';
  if (minute > 59) return 'minute';
  if (second > 59) return 'second';
  // Go allows both of these limits.
  if (zoneHour > 24) return 'time zone offset hour';
  if (zoneMinute > 60) return 'time zone offset minute';
  // Go knows the month, and so its days, only in the end.
  return day < 1 || day > daysIn(month, year) ? 'day' : undefined;
}

function daysIn(month: number, year: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Whether a text is a day of the calendar, as `2026-01-31`. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  // Date reads February 30 as a day of March.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}
