import type { Handler } from '@quartermaster/plugin-kit';

interface Input {
  readonly date_time: string;
  readonly from_timezone: string;
  readonly to_timezone: string;
}
interface Output {
  readonly date_time: string;
  readonly utc_offset: string;
  readonly timezone: string;
  readonly from_date_time: string;
  readonly utc_date_time: string;
  readonly timestamp: number;
  readonly resolution: Resolution;
}
/** How often the clock of `from_timezone` showed this time: once, twice (clocks went back) or never (clocks went forward). */
type Resolution = 'exact' | 'repeated' | 'skipped';

const dayMs = 86_400_000;
const minuteMs = 60_000;

export const run: Handler<Input, Output> = ({ date_time, from_timezone, to_timezone }, context) => {
  const [from, to] = [formatOf(from_timezone), formatOf(to_timezone)];
  if (from === undefined) return context.reject(`from_timezone ("${from_timezone}") is not an IANA time zone.`);
  if (to === undefined) return context.reject(`to_timezone ("${to_timezone}") is not an IANA time zone.`);
  const wallClock = readWallClock(date_time);
  if (wallClock === undefined) return context.reject(`date_time ("${date_time}") does not exist in the calendar.`);
  const { instant, resolution } = resolve(wallClock, from);
  return {
    date_time: print(instant, to),
    utc_offset: printOffset(offsetAt(instant, to)),
    timezone: to_timezone,
    from_date_time: print(instant, from),
    utc_date_time: `${new Date(instant).toISOString().slice(0, 19)}Z`,
    timestamp: instant,
    resolution,
  };
};

function formatOf(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  } catch {
    return undefined;
  }
}

/** The wall clock as if it were UTC, in milliseconds; undefined for a date such as 30 February. */
function readWallClock(text: string): number | undefined {
  const full = text.length === 'YYYY-MM-DDTHH:MM'.length ? `${text}:00` : text;
  const wallClock = Date.parse(`${full}Z`);
  if (Number.isNaN(wallClock) || !new Date(wallClock).toISOString().startsWith(full)) return undefined;
  return wallClock;
}

/** A repeated time means its first occurrence; a skipped one moves forward by the gap, as in RFC 5545. */
function resolve(wallClock: number, format: Intl.DateTimeFormat): { instant: number; resolution: Resolution } {
  const before = offsetAt(wallClock - dayMs, format);
  const after = offsetAt(wallClock + dayMs, format);
  const instants = [...new Set([before, after])].map((offset) => wallClock - offset);
  const [first, second] = instants.filter((at) => at + offsetAt(at, format) === wallClock).sort((a, b) => a - b);
  if (first === undefined) return { instant: wallClock - before, resolution: 'skipped' };
  return { instant: first, resolution: second === undefined ? 'exact' : 'repeated' };
}

/** Milliseconds east of UTC. */
function offsetAt(instant: number, format: Intl.DateTimeFormat): number {
  const name = format.formatToParts(instant).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours = 0, minutes = 0, seconds = 0] = /([+-])(\d+):(\d+)(?::(\d+))?/.exec(name) ?? [];
  const distance = Number(hours) * 60 * minuteMs + Number(minutes) * minuteMs + Number(seconds) * 1000;
  return sign === '-' ? -distance : distance;
}

function printOffset(offset: number): string {
  const distance = new Date(Math.abs(offset)).toISOString();
  return `${offset < 0 ? '-' : '+'}${distance.slice(11, offset % minuteMs === 0 ? 16 : 19)}`;
}

function print(instant: number, format: Intl.DateTimeFormat): string {
  const offset = offsetAt(instant, format);
  return `${new Date(instant + offset).toISOString().slice(0, 19)}${printOffset(offset)}`;
}
